import "./environments.css";
import { useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { ENVIRONMENTS } from "../../address/links.ts";
import type { EnvironmentList, LinkList } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { useDashboard } from "../../context.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { SearchField } from "../../design/search-field.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { EnvironmentRow } from "./environment-row.tsx";
import { foundEnvironments, knownEnvironments, MOST_LISTED } from "./known-environments.ts";

/** What can be evaluated: what the service brings along, what teams published, and what runs elsewhere. */
export function EnvironmentsPage() {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const { q: search = "" } = query;
  const listed = useAnswer<EnvironmentList>("/environmentshub/", { limit: MOST_LISTED, sort_by: "name", sort_order: "asc" });
  const links = useAnswer<LinkList>("/environments/linked");
  const list = useRef<HTMLTableSectionElement>(null);
  useRowKeys(list, "environment");
  const all = listed.value === null ? null : knownEnvironments(listed.value.data, links.value?.data ?? []);
  const found = all === null ? [] : foundEnvironments(all, search);
  const go = (text: string): void => route(link(ENVIRONMENTS, text === "" ? {} : { q: text }), true);
  const left = (listed.value?.total_count ?? 0) - (listed.value?.data.length ?? 0);
  return (
    <>
      <div class="page-head">
        <PageTitle title="Environments" />
        <p class="count" role="status">
          {all === null ? "" : `${found.length} ${found.length === 1 ? "environment" : "environments"}${search.trim() === "" ? "" : " found"}`}
        </p>
      </div>
      <search class="filters">
        <SearchField search={search} go={go} what="Search environments" placeholder="Name, kind or description" />
      </search>
      {listed.problem === null ? null : <Failure problem={listed.problem} again={listed.again} />}
      {links.problem === null || listed.problem !== null ? null : (
        <Notice role="status" tone="warning" title="Linked environments are not shown.">
          <p>{links.problem.text}</p>
        </Notice>
      )}
      {all === null && listed.problem === null ? <p role="status">Loading environments…</p> : null}
      {all !== null && found.length === 0 ? (
        <Notice role="status" tone="plain" title={all.length === 0 ? "This service has no environment." : `No environment is like “${singleLine(search)}”.`}>
          {all.length === 0 ? null : (
            <p>
              <button type="button" onClick={() => go("")}>
                Show all environments
              </button>
            </p>
          )}
        </Notice>
      ) : null}
      {found.length === 0 ? null : (
        <div class="scrolled">
          <table class="rows environments">
            <caption class="visually-hidden">Environments</caption>
            <thead>
              <tr>
                <th scope="col">Environment</th>
                <th scope="col">Kind</th>
                <th scope="col">Version</th>
                <th scope="col">What it is</th>
                <th scope="col">Changed</th>
                <th scope="col">
                  <span class="visually-hidden">Run</span>
                </th>
              </tr>
            </thead>
            <tbody ref={list}>
              {found.map((environment) => (
                <EnvironmentRow key={environment.reference} environment={environment} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {left > 0 ? <p>{left} more are not shown: `npx edgewise env list --search WORD` finds them.</p> : null}
    </>
  );
}
