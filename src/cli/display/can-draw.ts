/** Whether a live display can be shown; where it cannot, there are plain lines. */
export interface Circumstances {
  readonly env: NodeJS.ProcessEnv;
  /** Where it would be drawn. */
  readonly isTTY: boolean;
  readonly disabled: boolean;
  /** False for a job in the background. */
  readonly ownTerminal: () => boolean;
}

/** NO_COLOR asks for text without escape sequences, and a dumb terminal knows none. */
export const canDraw = ({ env, isTTY, disabled, ownTerminal }: Circumstances): boolean =>
  isTTY && !disabled && !env.NO_COLOR && env.TERM !== "dumb" && env.TERM !== undefined && ownTerminal();
