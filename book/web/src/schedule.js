// When a question comes back: boxes after Leitner. Right when due: one box on. Wrong: back to the first.
const DAYS = [1, 3, 7, 21]; // pause of box 1, 2, 3, 4

/** {box, due} of a question that was answered now; `record` is what was kept of it before, if anything. */
export function reschedule(record, right, now) {
  if (!right || !record?.box) return placed(1, now);
  if (!isDue(record, now)) return { box: record.box, due: record.due };
  return placed(Math.min(record.box + 1, DAYS.length), now);
}

/** On its day, whatever the hour is where the reader is now. */
export function isDue(record, now) {
  return Date.parse(record.due) <= new Date(now).setHours(23, 59, 59, 999);
}

function placed(box, now) {
  const due = new Date(now);
  due.setDate(due.getDate() + DAYS[box - 1]);
  due.setHours(0, 0, 0, 0); // whoever comes earlier in the day than last time finds it due all the same
  return { box, due: due.toISOString() };
}
