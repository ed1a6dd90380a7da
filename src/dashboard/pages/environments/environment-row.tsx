import { printable, singleLine } from "../../../report/text/printable.ts";
import { environmentAddress, NEW_RUN } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { Moment } from "../../design/moment.tsx";
import { EnvironmentKind } from "./environment-kind.tsx";
import type { KnownEnvironment } from "./known-environments.ts";

export function EnvironmentRow({ environment }: { readonly environment: KnownEnvironment }) {
  const { link } = useDashboard();
  const { reference, version, description, at } = environment;
  const name = singleLine(reference);
  return (
    <tr>
      <td data-name="Environment">
        <a class="row-link" href={link(environmentAddress(reference))}>
          {name}
        </a>
      </td>
      <td data-name="Kind">
        <EnvironmentKind {...environment} />
      </td>
      <td data-name="Version">{singleLine(version)}</td>
      <td data-name="What it is">
        <span class="clipped">{printable(description)}</span>
      </td>
      <td data-name="Changed">
        <Moment at={at} now={Date.now()} />
      </td>
      <td>
        <a class="button" href={link(NEW_RUN, { environment: reference })} aria-label={`Run ${name}`}>
          Run
        </a>
      </td>
    </tr>
  );
}
