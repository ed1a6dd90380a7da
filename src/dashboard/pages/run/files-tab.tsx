import type { Evaluation } from "../../api/run-answers.ts";
import { runAddress } from "../../address/links.ts";
import { isSayable, quoted } from "../../../report/text/shell-word.ts";
import { useDashboard } from "../../context.ts";
import { CopyButton } from "../../design/copy/copy-button.tsx";

const FILES = [
  { name: "results.jsonl", says: "a row for each rollout, as the verifiers library writes it", isLast: true },
  { name: "metadata.json", says: "settings and numbers", isLast: false },
  { name: "eval.log", says: "what happened", isLast: false },
] as const;

/** The files of the run's results folder. */
export function FilesTab({ run: { evaluation_id: id, edgewise, description } }: { readonly run: Evaluation }) {
  const { link, viewer } = useDashboard();
  const command = exportCommand(viewer.folders === "" || description === null ? id : description);
  return (
    <>
      <ul class="files">
        {FILES.map(({ name, says, isLast }) => (
          <li key={name}>
            {isLast && !edgewise.settled ? (
              <span>{name}</span>
            ) : (
              <a data-item href={link(`${runAddress(id)}/files/${name}`)} download={name}>
                {name}
              </a>
            )}
            <small>
              {says}
              {isLast && !edgewise.settled ? "; when the run is over" : ""}
            </small>
          </li>
        ))}
      </ul>
      {command === null ? null : (
        <p>
          As Parquet, CSV or JSON Lines, in a terminal: <code>{command}</code> <CopyButton text={command} name="Copy" />
        </p>
      )}
    </>
  );
}

/** `run`: an id, or a folder, which whoever named it may have called anything; null where it cannot be copied into a terminal, or would be a flag there. */
const exportCommand = (run: string): string | null => (isSayable(run) && !run.startsWith("-") ? `npx edgewise export ${quoted(run)}` : null);
