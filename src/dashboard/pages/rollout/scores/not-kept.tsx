import { JUDGE_COLUMN } from "../../../../metrics/judge-fields.ts";
import { keepingAddress } from "../../../address/links.ts";
import type { ListedEvaluation } from "../../../api/answers.ts";
import { useDashboard } from "../../../context.ts";

interface NotKeptProps {
  /** Null until it is known. */
  readonly run: ListedEvaluation | null;
}

/** Judges were asked, and the row does not say what: which option keeps it, and the way to a run that has it. */
export function NotKept({ run }: NotKeptProps) {
  const { link, viewer } = useDashboard();
  // Folders are looked at.
  const isOurs = viewer.folders === "" && run !== null && run.edgewise.origin !== "pushed";
  return (
    <section class="own-fields">
      <h2>What judges saw and said</h2>
      <p>
        The row does not keep it. A run with the state column <code>{JUDGE_COLUMN}</code> does (<code>--state-columns {JUDGE_COLUMN}</code>, in the form the
        tick “Keep what judges saw and said”).
      </p>
      {isOurs ? (
        <p>
          <a class="button" href={link(...keepingAddress(run.evaluation_id))}>
            Again with changes, keeping it
          </a>
        </p>
      ) : null}
    </section>
  );
}
