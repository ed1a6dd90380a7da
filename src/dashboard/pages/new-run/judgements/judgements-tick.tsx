import { JUDGE_COLUMN } from "../../../../metrics/judge-fields.ts";
import type { Draft } from "../draft.ts";
import { keepsJudgements, withJudgements } from "./kept-judgements.ts";

interface JudgementsTickProps {
  readonly draft: Draft;
  readonly change: (next: Draft) => void;
}

/** A state column in words: of any environment, since none says before it plays whether it asks a judge. */
export function JudgementsTick({ draft, change }: JudgementsTickProps) {
  const keeps = keepsJudgements(draft);
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={keeps === true}
        disabled={keeps === null}
        onChange={({ currentTarget }) => change(withJudgements(draft, currentTarget.checked))}
      />
      <span>
        Keep what judges saw and said (<code>{JUDGE_COLUMN}</code>)
      </span>
    </label>
  );
}
