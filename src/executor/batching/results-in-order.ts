/**
 * Results of `work` in the order of `items`, of which at most `atOnce` are worked on or wait for their turn. Begins nothing more once `begins` says no. Throws what `work` rejects
 * with when its turn comes; what is under way when the reader stops is left to itself.
 */
export async function* resultsInOrder<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce: number,
  begins: () => boolean,
): AsyncGenerator<Result> {
  const source = items[Symbol.iterator]();
  const open: Promise<Result>[] = [];
  const begin = (): void => {
    while (open.length < atOnce && begins()) {
      const next = source.next();
      if (next.done === true) return;
      const working = work(next.value);
      // Waited for in its turn; until then a failure is nobody's.
      working.catch(() => undefined);
      open.push(working);
    }
  };
  for (begin(); open.length > 0; begin()) {
    const result = (await open[0]) as Result;
    open.splice(0, 1);
    yield result;
  }
}
