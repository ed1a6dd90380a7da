const BARS = [..."▁▂▃▄▅▆▇█"];

/** Values as bars of one character each, between the least and the most of them; `·` for one that there is not. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return values
    .map((value) => {
      if (value === null) return "·";
      // What never changes is a line in the middle.
      const part = most === least ? 0.5 : (value - least) / (most - least);
      return BARS[Math.min(BARS.length - 1, Math.floor(part * BARS.length))] ?? "·";
    })
    .join("");
}
