// Quizzes in chapters, and the review page.
import { startQuestion, warnIfNotKept } from "./question.js";
import { startReview } from "./review.js";

export function start(elements) {
  for (const element of elements) {
    warnIfNotKept(element);
    if (element.matches(".posenc-review")) startReview(element);
    else for (const question of element.querySelectorAll(".posenc-question")) startQuestion(question);
  }
}
