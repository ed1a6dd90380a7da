import "./environments.css";
import { useLocation, useRoute } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { ENVIRONMENTS, NEW_RUN } from "../../address/links.ts";
import type { DescribedEnvironment, EnvironmentVersions, LinkList } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { useDashboard } from "../../context.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { DeclaredNames } from "./declared-names.tsx";
import { EnvironmentArguments } from "./environment-arguments.tsx";
import { EnvironmentRuns } from "./environment-runs.tsx";
import { Description } from "./description.tsx";
import { hubPath } from "./known-environments.ts";
import { LinkServers } from "./link-servers.tsx";
import { VersionTable } from "./version-table.tsx";

/** One environment: what it is, what it takes, its versions, and the runs that were made with it. */
export function EnvironmentPage() {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const { params } = useRoute();
  const { reference = "" } = params;
  const { version = "latest" } = query;
  // What a team has linked under the name is what its runs are made with, whatever else is called so.
  const links = useAnswer<LinkList>("/environments/linked");
  const linked = links.value?.data.find(({ name, command }) => name === reference && command === null) ?? null;
  const isKnown = links.value !== null || links.problem !== null;
  const found = useAnswer<DescribedEnvironment>(isKnown && linked === null ? hubPath(reference, version) : null);
  const versions = useAnswer<EnvironmentVersions>(found.value === null ? null : hubPath(reference, null));
  const newRun = (): boolean => {
    route(link(NEW_RUN, { environment: reference, ...(version === "latest" ? {} : { version }) }));
    return true;
  };
  useShortcuts([{ keys: ["r"], does: "Run this environment", run: newRun }]);
  const facts = linked ?? (found.value === null ? null : { ...found.value.metadata, description: found.value.description });
  const failed = found.problem;
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
        <Failure problem={failed} again={found.again} />
      )}
      {facts === null && failed === null ? <p role="status">Loading the environment…</p> : null}
      {facts === null ? null : (
        <>
          <Description text={facts.description} found={found.value} linked={linked} />
          <EnvironmentArguments args={facts.args} defaults={facts.defaults} />
          <DeclaredNames reference={reference} keys={facts.keys} hosts={facts.hosts} />
          {linked === null ? null : <LinkServers name={reference} />}
          {versions.value === null ? null : (
            <VersionTable reference={reference} versions={versions.value.data} shown={found.value?.version.semantic_version ?? ""} />
          )}
          <EnvironmentRuns reference={found.value?.owner.name === "edgewise" && found.value.id === found.value.name ? found.value.id : reference} />
        </>
      )}
    </>
  );
}
