import "./new-run.css";
import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { KEEPS_JUDGEMENTS } from "../../address/links.ts";
import type { EnvironmentList, LinkList, OptionList } from "../../api/answers.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { useEnvironment } from "../../api/use-environment.ts";
import { useDashboard } from "../../context.ts";
import { Failure } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { knownEnvironments, MOST_LISTED } from "../environments/known-environments.ts";
import { type Draft, EMPTY_DRAFT } from "./draft.ts";
import { draftOfRun, environmentOfRun } from "./draft-of-run.ts";
import { DraftStorage } from "./draft-storage.ts";
import { formOf } from "./form.ts";
import { withJudgements } from "./judgements/kept-judgements.ts";
import { NewRunForm } from "./new-run-form.tsx";

/** A run is written down and started: anew, of a given environment, or as another run with changes. */
export function NewRunPage() {
  const { viewer } = useDashboard();
  const { query } = useLocation();
  const { from = "", environment = "", version = "", keeps = "" } = query;
  const options = useAnswer<OptionList>("/options");
  const listed = useAnswer<EnvironmentList>("/environmentshub/", { limit: MOST_LISTED, sort_by: "name", sort_order: "asc" });
  const links = useAnswer<LinkList>("/environments/linked");
  const run = useAnswer<Evaluation>(from === "" ? null : `/evaluations/${encodeURIComponent(from)}`);
  const ofRun = run.value === null ? null : environmentOfRun(run.value);
  const known = listed.value === null ? null : knownEnvironments(listed.value.data, links.value?.data ?? []);
  // Of a published environment the run's own version: the same again is of the same code.
  const isPinned = ofRun !== null && (known?.some(({ reference, kind }) => reference === ofRun.reference && kind === "published") ?? false);
  const pinned = isPinned ? (ofRun?.version ?? "") : "";
  const used = useEnvironment(ofRun?.reference ?? "", pinned === "" ? "latest" : pinned);
  const storage = useMemo(
    () => new DraftStorage(sessionStorage, viewer.team, JSON.stringify({ from, environment, version, ...(keeps === "" ? {} : { keeps }) })),
    [viewer.team, from, environment, version, keeps],
  );
  const asked = (draft: Draft): Draft => (keeps === KEEPS_JUDGEMENTS ? withJudgements(draft, true) : draft);
  const problem = options.problem ?? run.problem ?? (listed.value === null ? listed.problem : null);
  const isKnown =
    options.value !== null && known !== null && (from === "" || (run.value !== null && (used.linked !== null || used.found !== null || used.problem !== null)));
  // What is asked again in the background is no reason to begin anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is what was there when all of it was
  const base = useMemo(() => {
    if (!isKnown || options.value === null || run.value === null) return null;
    const args = used.linked?.args ?? used.found?.metadata.args ?? null;
    return draftOfRun(run.value, formOf(options.value, args, used.linked === null), pinned);
  }, [isKnown, from]);
  return (
    <>
      <div class="page-head">
        <PageTitle title={from === "" ? "New run" : "Again with changes"} />
      </div>
      {problem !== null && !isKnown ? (
        <Failure
          problem={problem}
          again={() => {
            for (const each of [options, listed, links, run]) if (each.problem !== null) each.again();
          }}
        />
      ) : null}
      {isKnown || problem !== null ? null : <p role="status">Loading the form…</p>}
      {isKnown && options.value !== null ? (
        <NewRunForm
          key={`${from} ${environment} ${version} ${keeps}`}
          options={options.value}
          known={known}
          base={base}
          run={run.value}
          initial={storage.read() ?? asked(base ?? { ...EMPTY_DRAFT, environment, version })}
          storage={storage}
        />
      ) : null}
    </>
  );
}
