import { singleLine } from "../../../report/text/printable.ts";
import { Dialog } from "../dialog.tsx";
import { outsideLink } from "./safe-link.ts";

interface OpenOutsideProps {
  readonly address: string;
  readonly onClose: () => void;
}

/** Asks before a link of a text is opened: where it leads is read first. The other page learns nothing of this one. */
export function OpenOutside({ address, onClose }: OpenOutsideProps) {
  const link = outsideLink(address);
  if (link === null) return null;
  return (
    <Dialog title="Open this link?" onClose={onClose}>
      <p>
        It was written by a model or stands in the data, and leads to <strong class="outside-host">{singleLine(link.host)}</strong>.
      </p>
      <p>
        <code class="outside-address">{singleLine(link.href)}</code>
      </p>
      <p class="dialog-actions">
        <a class="button" href={link.href} target="_blank" rel="noreferrer noopener" onClick={onClose}>
          Open {singleLine(link.host)}
        </a>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}
