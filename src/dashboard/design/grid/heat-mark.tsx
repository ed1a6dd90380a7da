import { type HeatTone, heatSign } from "./heat.ts";

interface HeatMarkProps {
  readonly text: string;
  /** Of `heatOf`; null = it stands for itself. */
  readonly step: number | null;
  readonly tone: HeatTone;
}

/** A number and how high it is within its column. */
export const HeatMark = ({ text, step, tone }: HeatMarkProps) =>
  step === null ? (
    text
  ) : (
    <span class={`heat ${tone}-${step}`}>
      <i aria-hidden="true">{heatSign(step)}</i>
      {text}
    </span>
  );
