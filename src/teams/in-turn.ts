/** At most `most` of `all`, in their order from another one on each turn. */
export function inTurn<T>(all: readonly T[], turn: number, most: number): readonly T[] {
  if (all.length === 0) return all;
  const first = (turn * Math.min(most, Math.max(1, all.length - 1))) % all.length;
  return [...all.slice(first), ...all.slice(0, first)].slice(0, most);
}
