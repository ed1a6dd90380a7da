/** Colours of a chart as its style sheet has them in the theme that is shown: a canvas knows no style. */
export interface Colours {
  readonly text: string;
  readonly line: string;
  /** One after another for lines, and groups of points. */
  readonly series: readonly string[];
}

/** Lines and groups that look different from each other; a seventh looks like the first. */
export const SERIES_LOOKS = 6;
/** Of each line beside its colour, as a canvas takes it: colour alone tells nothing. */
export const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [10, 3, 2, 3], [4, 6], [12, 4]];
/** Of each group of points, likewise. */
export const SHAPES = ["circle", "square", "triangle", "cross", "diamond", "plus"] as const;

/** What stands in the page for each colour (chart.css). */
export const coloursOf = (probes: HTMLElement): Colours => {
  const colour = (name: string): string => {
    const probe = probes.querySelector(`.${name}`);
    return probe === null ? "gray" : getComputedStyle(probe).color;
  };
  return {
    text: colour("chart-colour-text"),
    line: colour("chart-colour-line"),
    series: Array.from({ length: SERIES_LOOKS }, (_, at) => colour(`chart-colour-${at}`)),
  };
};
