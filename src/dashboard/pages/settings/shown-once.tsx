import { CopyButton } from "../../design/copy/copy-button.tsx";
import { Notice } from "../../design/notice.tsx";

/** A text that the service says this once. */
export interface Once {
  readonly title: string;
  readonly text: string;
  readonly note: string;
}

/** Shows it until it is put away, or the page is left: it is kept nowhere. */
export function ShownOnce({ once, away }: { readonly once: Once | null; readonly away: () => void }) {
  if (once === null) return null;
  return (
    <Notice role="status" tone="warning" title={once.title}>
      <pre class="shown-once">{once.text}</pre>
      <p>{once.note}</p>
      <p class="row-actions">
        <CopyButton text={once.text} name="Copy" />
        <button type="button" onClick={away}>
          Done
        </button>
      </p>
    </Notice>
  );
}
