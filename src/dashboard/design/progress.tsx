interface ProgressProps {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

/** How much is done, as a bar; the numbers stand beside it. */
export const Progress = ({ done, total, label }: ProgressProps) => <progress class="progress" value={done} max={Math.max(1, total)} aria-label={label} />;
