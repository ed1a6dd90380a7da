/** The candidate that a misspelt word most likely meant; null when none is close (more than a third of its letters differ). */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const wanted = normal(word);
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const other = normal(candidate);
    const most = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3));
    const begins = other.startsWith(wanted) && wanted.length >= 3;
    // A word is at least as far away as it is longer; one of a million letters is not measured.
    if (!begins && Math.abs(wanted.length - other.length) > most) continue;
    const distance = begins ? 0 : editDistance(wanted, other);
    if (distance <= most && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** ` (did you mean model?)`, with a blank before it; empty where nothing is near, or `word` is no word. */
export function didYouMean(word: unknown, known: Iterable<string>): string {
  const close = typeof word === "string" ? nearest(word, [...known]) : null;
  return close === null ? "" : ` (did you mean ${close}?)`;
}

/** `Reverse_Text` and `reverse-text` are the same word to whoever types them. */
const normal = (word: string): string => word.toLowerCase().replaceAll("_", "-");

/** Letters to insert, remove, change or exchange with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, exchanged ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
