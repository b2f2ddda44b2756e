// What quizzes and the review say. Whole sentences, to be translated.
export const words = {
  check: "Check my answer",
  again: "Answer it again",
  nothing: "Choose an answer first.",
  right: "That is right.",
  wrong: "That is not right. The note below your answer says why. Choose another answer, and check it.",
  severalWrong: "That is not right yet: something that you chose is wrong. The notes below your answers say what.",
  severalMissing: "What you chose is right, but it is not all. Find what is missing.",
  tries: (count) => (count === 1 ? "You have answered this once." : `You have answered this ${count} times.`),
  notKept: "Your browser does not let this page keep your answers. They are lost when you close it.",
  due: (count) =>
    count === 1 ? "One question is due today." : `${count} questions are due today.`,
  done: (day) => `Nothing more is due today. The next question comes back on ${day}.`,
  none: "You have not answered any question yet. There is a quiz at the end of each chapter.",
  day: (date) => new Intl.DateTimeFormat(document.documentElement.lang || "en", { dateStyle: "long" }).format(date),
};
