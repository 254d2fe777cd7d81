// Work for parts of the page that may be hidden behind a tab: it waits until they are looked at.

/** A function that calls another at once where an element is shown, and else once when it comes to be. */
export function whenVisible(root: HTMLElement, run: () => void): () => void {
  let waiting = false;
  const observer = new IntersectionObserver((entries) => {
    if (!waiting || !entries.some((entry) => entry.isIntersecting)) return;
    waiting = false;
    run();
  });
  observer.observe(root);
  return () => {
    waiting = root.offsetParent === null;
    if (!waiting) run();
  };
}
