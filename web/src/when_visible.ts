// Work for parts of the page that may be hidden behind a tab: it waits until they are looked at.

/** A function that calls another at once where an element is shown, and else once when it comes to be; a signal ends that. */
export function whenVisible(root: HTMLElement, run: () => void, ended: AbortSignal): () => void {
  let waiting = false;
  const observer = new IntersectionObserver((entries) => {
    if (!waiting || !entries.some((entry) => entry.isIntersecting)) return;
    waiting = false;
    run();
  });
  observer.observe(root);
  ended.addEventListener("abort", () => observer.disconnect());
  return () => {
    waiting = root.offsetParent === null;
    if (!waiting) run();
  };
}
