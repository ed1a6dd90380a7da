/** What somebody typed into a form and has not sent, by the team and the way to the form: in the storage of one tab of the browser. */
export const DRAFTS = "edgewise-new-run:";
const WHOSE = "edgewise-drafts-of";

/** A tab's storage. */
export type TabShelf = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Drafts are of who typed them: whoever signs in next in the same tab sees none of another's. */
export function keepDraftsOf(shelf: TabShelf, user: string): void {
  try {
    if (shelf.getItem(WHOSE) === user) return;
    forgetDrafts(shelf);
    shelf.setItem(WHOSE, user);
  } catch {
    // A browser that keeps nothing has no drafts either.
  }
}

/** Forgets what was typed in this tab. */
export function forgetDrafts(shelf: TabShelf): void {
  const keys = Array.from({ length: shelf.length }, (_, at) => shelf.key(at) ?? "");
  for (const key of keys) if (key.startsWith(DRAFTS)) shelf.removeItem(key);
}
