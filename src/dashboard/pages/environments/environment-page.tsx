import "./environments.css";
import { useLocation, useRoute } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { ENVIRONMENTS, NEW_RUN } from "../../address/links.ts";
import type { EnvironmentVersions } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { useEnvironment } from "../../api/use-environment.ts";
import { useDashboard } from "../../context.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { DeclaredNames } from "./declared-names.tsx";
import { EnvironmentArguments } from "./environment-arguments.tsx";
import { EnvironmentRuns } from "./environment-runs.tsx";
import { Description } from "./description.tsx";
import { hubPath } from "../../api/environment-paths.ts";
import { LinkServers } from "./link-servers.tsx";
import { Readme } from "./readme.tsx";
import { VersionTable } from "./version-table.tsx";

/** One environment: what it is, what it takes, its versions, and the runs that were made with it. */
export function EnvironmentPage() {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const { params } = useRoute();
  const { reference = "" } = params;
  const { version = "latest" } = query;
  const { linked, found, problem: failed, again } = useEnvironment(reference, version);
  const versions = useAnswer<EnvironmentVersions>(found === null ? null : hubPath(reference, null));
  const newRun = (): boolean => {
    route(link(NEW_RUN, { environment: reference, ...(version === "latest" ? {} : { version }) }));
    return true;
  };
  useShortcuts([{ keys: ["r"], does: "Run this environment", run: newRun }]);
  const facts = linked ?? (found === null ? null : { ...found.metadata, description: found.description });
  return (
    <>
      <div class="page-head">
        <PageTitle title={singleLine(reference)} />
        {facts === null ? null : (
          <a class="button main" title="Run it (r)" href={link(NEW_RUN, { environment: reference, ...(version === "latest" ? {} : { version }) })}>
            Run
          </a>
        )}
        <a href={link(ENVIRONMENTS)}>All environments</a>
      </div>
      {failed === null ? null : failed.status === 404 ? (
        <Notice role="status" tone="plain" title="There is no environment of that name that you may see.">
          {failed.hint === null ? null : <p>{singleLine(failed.hint)}</p>}
        </Notice>
      ) : (
        <Failure problem={failed} again={again} />
      )}
      {facts === null && failed === null ? <p role="status">Loading the environment…</p> : null}
      {facts === null ? null : (
        <>
          <Description text={facts.description} found={found} linked={linked} />
          {found?.metadata.readme == null ? null : <Readme key={found.version.content_hash} reference={reference} version={found.version.semantic_version} />}
          <EnvironmentArguments args={facts.args} defaults={facts.defaults} />
          <DeclaredNames reference={reference} keys={facts.keys} hosts={facts.hosts} />
          {linked === null ? null : <LinkServers name={reference} />}
          {versions.value === null ? null : <VersionTable reference={reference} versions={versions.value.data} shown={found?.version.semantic_version ?? ""} />}
          <EnvironmentRuns reference={found?.owner.name === "edgewise" && found.id === found.name ? found.id : reference} />
        </>
      )}
    </>
  );
}
