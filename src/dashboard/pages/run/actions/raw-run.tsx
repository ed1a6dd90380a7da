import { printableJson } from "../../../../report/text/printable.ts";
import type { Evaluation } from "../../../api/run-answers.ts";
import { CopyButton } from "../../../design/copy/copy-button.tsx";
import { Dialog } from "../../../design/dialog.tsx";

/** A run as the API answers it. */
export function RawRun({ run, onClose }: { readonly run: Evaluation; readonly onClose: () => void }) {
  const text = printableJson(run, 2);
  return (
    <Dialog title={`GET /api/v1/evaluations/${run.evaluation_id}`} onClose={onClose}>
      <p>
        <CopyButton text={text} name="Copy" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <pre class="raw" tabIndex={0}>
        {text}
      </pre>
    </Dialog>
  );
}
