import { thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { environmentAddress, NEW_RUN } from "../../address/links.ts";
import type { EnvironmentVersions } from "../../api/answers.ts";
import { useDashboard } from "../../context.ts";
import { Moment } from "../../design/moment.tsx";

interface VersionTableProps {
  readonly reference: string;
  readonly versions: EnvironmentVersions["data"];
  /** The one that the page describes. */
  readonly shown: string;
}

/** Its versions, the latest first. */
export function VersionTable({ reference, versions, shown }: VersionTableProps) {
  const { link } = useDashboard();
  const werePublished = versions.some(({ created_at }) => created_at !== null);
  return (
    <section aria-label="Versions">
      <h2>Versions</h2>
      <div class="scrolled">
        <table class="rows">
          <caption class="visually-hidden">Versions</caption>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Published</th>
              {werePublished ? <th scope="col">By</th> : null}
              <th scope="col">Code</th>
              {werePublished ? <th scope="col">Bytes</th> : null}
              <th scope="col">
                <span class="visually-hidden">Run</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ version, created_at, created_by, sha256, bytes, latest }) => (
              <tr key={version}>
                <td data-name="Version">
                  <a href={link(environmentAddress(reference), latest ? {} : { version })} aria-current={version === shown ? "true" : undefined}>
                    {singleLine(version)}
                  </a>
                  {latest ? <small>latest</small> : null}
                </td>
                <td data-name="Published">{created_at === null ? "with the service" : <Moment at={created_at} now={Date.now()} />}</td>
                {werePublished ? <td data-name="By">{singleLine(created_by ?? "")}</td> : null}
                <td data-name="Code">
                  <code title={sha256}>{sha256.slice(0, 12)}</code>
                </td>
                {werePublished ? (
                  <td data-name="Bytes" class="number">
                    {bytes === null ? "" : thousands(bytes)}
                  </td>
                ) : null}
                <td>
                  <a
                    class="button"
                    href={link(NEW_RUN, { environment: reference, ...(latest ? {} : { version }) })}
                    aria-label={`Run version ${singleLine(version)}`}
                  >
                    Run
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
