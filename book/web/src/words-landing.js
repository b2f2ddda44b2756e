// What the first page says.
import { _ } from "./words.js";

export const words = {
  goOn: _("Continue where you were"),
  place: (chapter, section) => _("{chapter}: {section}", { chapter, section }),
  token: (position) => _("Token {position}", { position }),
  pause: _("Pause the picture"),
  play: _("Play the picture"),

  sentence: _("Your sentence"),
  row: _("Its words. Drag one to another place"),
  keys: _("Or choose a word and press the arrow keys, or the buttons below."),
  earlier: _("← Move it left"),
  later: _("Move it right →"),
  turnRound: _("Turn the sentence round"),
  asTyped: _("As I typed it"),
  looksAt: (word) => _("Your order, and where “{word}” looks:", { word }),
  other: _("Another order. Drag a word:"),
  positions: _("Positions"),
  door: { none: _("none"), added: _("added"), rotated: _("rotated"), biased: _("biased") },
  notTold: _(
    "Not one number changes. Without positions, attention cannot tell the two orders apart. Now let positions in.",
  ),
  told: (from, to, now, before) =>
    _(
      "Now the order counts: “{from}” gives “{to}” {now} of its attention in the second line, and {before} in the first.",
      { from, to, now, before },
    ),
  hardlyTold: (word) => _("For “{word}” these two orders happen to look the same. Choose another word.", { word }),
  sameOrder: _("Both lines read the same now. Drag a word in the second one."),
  tooFew: _("Write at least two words."),
  tooMany: (most) => _("The map has room for {most} words. The first {most} are shown.", { most }),
  moved: (word, place, count) => _("“{word}” is now word {place} of {count}.", { word, place, count }),
  asItWas: _("The words are in the order you typed them. Move one, and watch the map."),
  sameRows: _(
    "The same rows in other places: each word gives every other the share that it gave before, and gets the same numbers. The mean of the rows has not moved at all.",
  ),
  gets: _("what it gets"),
  mean: _("mean"),
  cell: (from, to, share) => _("“{from}” gives “{to}” {share} of its attention.", { from, to, share }),
  cells: _("Cells of the attention map"),
  map: (count) =>
    _("Attention map of {count} words: a row for each word that asks, a column for each that is asked.", { count }),
  most: (from, to, share) => _("“{from}” looks most at “{to}”: {share}.", { from, to, share }),
  asks: _("asks"),
  isAsked: _("is asked"),
};
