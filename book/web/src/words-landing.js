// What the first page says.
import { _ } from "./words.js";

export const words = {
  goOn: (chapter) => _("Continue where you were: {chapter}", { chapter }),
  goOnWith: (chapter, title) => _("Continue where you were: {chapter}, “{title}”", { chapter, title }),
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
  doors: _("Which door is open?"),
  door: {
    none: _("none, all are shut"),
    added: _("added to the input"),
    rotated: _("rotated into queries and keys"),
    biased: _("biased onto the scores"),
  },
  aboutDoor: {
    none: _("Each word is a vector, and nothing else goes in."),
    added: _("The sinusoidal encoding of its place is added to each word’s vector."),
    rotated: _("RoPE turns each query and each key by an angle that grows with its place."),
    biased: _(
      "ALiBi lowers each score by the distance of the two words, here twice as much for a word before as for one after.",
    ),
  },
  tooFew: _("Write at least two words."),
  tooMany: (most) => _("The map has room for {most} words. The first {most} are shown.", { most }),
  moved: (word, place, count) => _("“{word}” is now word {place} of {count}.", { word, place, count }),
  asItWas: _("The words are in the order you typed them. Move one, and watch the map."),
  same: _(
    "The same map: each word gives every other word the share that it gave before. Only rows and columns have changed places.",
  ),
  sameRows: _(
    "The same rows in other places: each word gives every other the share that it gave before, and gets the same numbers. The mean of the rows has not moved at all.",
  ),
  gets: _("what it gets"),
  mean: _("mean"),
  other: (from, to, now, before) =>
    _("Another map: “{from}” now gives “{to}” {now} of its attention; in the order you typed, it was {before}.", {
      from,
      to,
      now,
      before,
    }),
  cell: (from, to, share) => _("“{from}” gives “{to}” {share} of its attention.", { from, to, share }),
  cells: _("Cells of the attention map"),
  map: (count) =>
    _("Attention map of {count} words: a row for each word that asks, a column for each that is asked.", { count }),
  most: (from, to, share) => _("“{from}” looks most at “{to}”: {share}.", { from, to, share }),
  asks: _("asks"),
  isAsked: _("is asked"),
};
