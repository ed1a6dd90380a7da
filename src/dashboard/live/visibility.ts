/** Whether anybody sees the page: one in the background asks for nothing. */
export interface Visibility {
  isVisible(): boolean;
  /** Calls `changed` whenever that changes; the answer ends it. */
  listen(changed: () => void): () => void;
}

/** What is used of a `Document`. */
interface SeenPage {
  readonly visibilityState: string;
  addEventListener(name: "visibilitychange", listener: () => void): void;
  removeEventListener(name: "visibilitychange", listener: () => void): void;
}

export const visibilityOf = (page: SeenPage): Visibility => ({
  isVisible: () => page.visibilityState !== "hidden",
  listen: (changed) => {
    page.addEventListener("visibilitychange", changed);
    return () => page.removeEventListener("visibilitychange", changed);
  },
});
