const BEGINNING = /^\{"rollout_index":(\d{1,9}),"kept":/;

/** A line of a segment that is no row: a rollout whose unit was not done then. `text` is one JSON value on one line (src/rollouts/kept/). */
export const keptLine = (rollout: number, text: string): string => `{"rollout_index":${rollout},"kept":${text}}`;

/** What `keptLine` was given; null for a line that is none. */
export function readKeptLine(line: string): { readonly rollout: number; readonly text: string } | null {
  const beginning = BEGINNING.exec(line);
  return beginning === null || !line.endsWith("}") ? null : { rollout: Number(beginning[1]), text: line.slice(beginning[0].length, -1) };
}
