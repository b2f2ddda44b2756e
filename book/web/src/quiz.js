// Quizzes in chapters, and the review page.
import { button } from "./elements.js";
import { startQuestion, warnIfNotKept } from "./question.js";
import { startReview } from "./review.js";
import { words } from "./words-quiz.js";

export function start(elements) {
  for (const element of elements) {
    warnIfNotKept(element);
    if (element.matches(".posenc-review")) startReview(element);
    else startQuiz(element);
  }
}

/** A quiz shows its next question when the one before has been answered, or all of them when asked to. */
function startQuiz(quiz) {
  for (const question of quiz.querySelectorAll(".posenc-question")) startQuestion(question);
  const all = button(words.all, () => {
    const next = quiz.querySelector(".posenc-question:not(.posenc-met) ~ .posenc-question input");
    quiz.classList.remove("posenc-one-by-one");
    next?.focus();
  });
  all.classList.add("posenc-all");
  quiz.append(all);
  quiz.classList.add("posenc-one-by-one");
}
