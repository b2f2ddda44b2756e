// What a page makes only where a reader comes: an editor is hundreds of kilobytes.
/** Call action(each) once, when its `element` comes near the window. */
export function whenNear(things, action) {
  const byElement = new Map(things.map((each) => [each.element, each]));
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        observer.unobserve(target);
        action(byElement.get(target));
      }
    },
    { rootMargin: "600px 0px" },
  );
  for (const element of byElement.keys()) observer.observe(element);
}
