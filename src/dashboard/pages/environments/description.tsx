import { printable, singleLine } from "../../../report/text/printable.ts";
import type { DescribedEnvironment, LinkList } from "../../api/answers.ts";
import { Moment } from "../../design/moment.tsx";

interface DescriptionProps {
  readonly text: string;
  readonly found: DescribedEnvironment | null;
  readonly linked: LinkList["data"][number] | null;
}

/** What it says of itself, where its code is, and which code that is. */
export const Description = ({ text, found, linked }: DescriptionProps) => (
  <section aria-label="About">
    <p class="description">{printable(text)}</p>
    <dl class="facts">
      <dt>Kind</dt>
      <dd>
        {linked !== null ? "Linked: its code runs in a process elsewhere" : found?.metadata.module === undefined ? "Bundled with the service" : "Published"}
      </dd>
      {found === null ? null : (
        <>
          <dt>Owner</dt>
          <dd>{singleLine(found.owner.name)}</dd>
          <dt>For</dt>
          <dd>{found.visibility === "PUBLIC" ? "every team of the service" : "its team alone"}</dd>
          <dt>Version</dt>
          <dd>
            {singleLine(found.version.semantic_version)} <Moment at={found.version.created_at} now={Date.now()} />
          </dd>
          <dt>Code</dt>
          <dd>
            <code>{singleLine(found.version.content_hash)}</code>
          </dd>
        </>
      )}
      {linked === null ? null : (
        <>
          <dt>Version</dt>
          <dd>{singleLine(linked.version)}</dd>
          <dt>Code</dt>
          <dd>
            <code>{singleLine(linked.digest)}</code>
          </dd>
          <dt>Linked</dt>
          <dd>
            <Moment at={linked.linked_at} now={Date.now()} /> by {singleLine(linked.linked_by)}
          </dd>
        </>
      )}
    </dl>
  </section>
);
