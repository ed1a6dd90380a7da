/** Rows of a page, and characters of their JSON, about: docs/environment-protocol.md says so. */
const PAGE_ROWS = 500;
const PAGE_CHARACTERS = 1024 * 1024;

export interface Page<T> {
  readonly rows: T[];
  readonly done: boolean;
}

/** The next page of what `rows` gives. Rejects with what it throws. */
export async function nextPage<T>(rows: AsyncIterator<T>): Promise<Page<T>> {
  const page: T[] = [];
  for (let characters = 0; page.length < PAGE_ROWS && characters < PAGE_CHARACTERS; ) {
    const next = await rows.next();
    if (next.done === true) return { rows: page, done: true };
    page.push(next.value);
    characters += JSON.stringify(next.value).length;
  }
  return { rows: page, done: false };
}
