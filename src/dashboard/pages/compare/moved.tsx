import { signed } from "../../../report/statistics/comparison-lines.ts";

const REWARD = "reward";

/** What a difference is in a sign and a word; of a metric nobody knows whether more is better. */
export function movedWord(difference: number, metric: string): { readonly sign: string; readonly word: string; readonly tone: string } {
  if (difference === 0) return { sign: "=", word: "equal", tone: "is-equal" };
  const [less, more] = metric === REWARD ? ["worse", "better"] : ["lower", "higher"];
  return difference < 0 ? { sign: "↓", word: less ?? "", tone: "is-less" } : { sign: "↑", word: more ?? "", tone: "is-more" };
}

/** A difference as a sign, a number and a word. */
export function Moved({ difference, metric }: { readonly difference: number; readonly metric: string }) {
  const { sign, word, tone } = movedWord(difference, metric);
  return (
    <span class={`moved ${tone}`}>
      <span aria-hidden="true">{sign}</span> {signed(difference)} <span class="moved-word">{word}</span>
    </span>
  );
}
