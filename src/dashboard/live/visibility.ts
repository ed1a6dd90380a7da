/** Whether anybody sees the page: one in the background asks for nothing. */
export interface Visibility {
  isVisible(): boolean;
  /** Calls `changed` whenever that changes; the answer ends it. */
  listen(changed: () => void): () => void;
}

export const visibilityOf = (page: Document): Visibility => ({
  isVisible: () => page.visibilityState !== "hidden",
  listen: (changed) => {
    page.addEventListener("visibilitychange", changed);
    return () => page.removeEventListener("visibilitychange", changed);
  },
});
