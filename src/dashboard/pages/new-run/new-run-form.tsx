import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { DRAWN_HERE, runAddress } from "../../address/links.ts";
import type { OptionList } from "../../api/answers.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { useEnvironment } from "../../api/use-environment.ts";
import { useDashboard } from "../../context.ts";
import type { KnownEnvironment } from "../environments/known-environments.ts";
import { ArgumentFields } from "./argument-fields.tsx";
import { changesOf } from "./changes.ts";
import { Cost } from "./cost.tsx";
import { type Draft, EMPTY_DRAFT } from "./draft.ts";
import type { DraftStorage } from "./draft-storage.ts";
import { EnvironmentChoice } from "./environment-choice.tsx";
import { fieldLabel, formOf } from "./form.ts";
import { FurtherOptions } from "./further-options.tsx";
import { MainFields } from "./main-fields.tsx";
import { MAIN_MODEL_OPTIONS, PlaceChoice } from "./place-choice.tsx";
import { creationOf } from "./request.ts";
import { SameElsewhere } from "./same-elsewhere.tsx";
import { serviceProblems } from "./service-problems.ts";
import { settingsOf } from "./settings.ts";
import { StartBar } from "./start-bar.tsx";
import { useFaultFocus } from "./use-fault-focus.ts";
import { useForecast } from "./use-forecast.ts";
import { useStart } from "./use-start.ts";

interface NewRunFormProps {
  readonly options: OptionList;
  readonly known: readonly KnownEnvironment[] | null;
  /** What the run said that this is to be again; null of a new one. */
  readonly base: Draft | null;
  readonly run: Evaluation | null;
  readonly initial: Draft;
  readonly storage: DraftStorage;
}

/** Numbers that most runs say. */
const MAIN_NUMBERS = ["num_examples", "rollouts_per_example", "max_concurrent", "eval_name"];

export function NewRunForm({ options, known, base, run, initial, storage }: NewRunFormProps) {
  const { link } = useDashboard();
  const { route } = useLocation();
  const [draft, setDraft] = useState(initial);
  /** Fields that are empty are no fault before somebody wants to start. */
  const [isAsked, setIsAsked] = useState(false);
  const change = (next: Draft): void => {
    setDraft(next);
    storage.keep(next);
  };
  const used = useEnvironment(draft.environment, draft.version === "" ? "latest" : draft.version);
  const { linked, found } = used;
  const args = linked?.args ?? found?.metadata.args ?? null;
  const form = formOf(options, args, linked === null);
  // Until it is known what the environment takes, nobody can say what is wrong with it.
  const isLoading = draft.environment !== "" && linked === null && found === null && used.problem === null;
  const { settings, problems } = settingsOf(draft, form);
  const ofEnvironment = used.problem === null ? [] : [["environment", used.problem.text] as const];
  const own = new Map([...problems, ...ofEnvironment].filter(([name]) => !(isLoading && name.startsWith("args."))));
  const isComplete = own.size === 0 && !isLoading;
  const creation = isComplete ? creationOf(draft, settings) : null;
  const forecast = useForecast(creation);
  const { isStarting, problemOf, start } = useStart((id) => {
    storage.forget();
    const address = link(runAddress(id));
    if (DRAWN_HERE.test(address)) route(address);
    else location.assign(address);
  });
  const told = problemOf(creation) ?? forecast.problem;
  const service = told === null ? { atFields: new Map(), others: [] } : serviceProblems(told, form);
  const shown = new Map([...service.atFields, ...(isAsked ? own : [...own].filter(([, msg]) => !IS_EMPTY.includes(msg)))]);
  const changes = changesOf(base, draft);
  const props = { draft, change, problems: shown, changes };
  const { form: drawn, wanted } = useFaultFocus({ isStarting, isRefused: (isAsked && own.size > 0) || told !== null });
  const ask = (): void => {
    setIsAsked(true);
    wanted();
    if (creation !== null) start(creation);
  };
  const usualModel = String(options.options.find(({ name }) => name === "model")?.default ?? "");
  const elsewhere = [...MAIN_NUMBERS, ...MAIN_MODEL_OPTIONS];
  return (
    <form ref={drawn} class="new-run" noValidate onSubmit={(event) => event.preventDefault()}>
      {run === null ? null : (
        <p>
          Everything is as in run <a href={link(runAddress(run.evaluation_id))}>{singleLine(run.name)}</a> (<code>{run.evaluation_id}</code>)
          {changes.size === 0
            ? "; what you change is marked."
            : `, but for ${changes.size} ${changes.size === 1 ? "field that is" : "fields that are"} marked.`}{" "}
          {changes.size === 0 || base === null ? null : (
            <button type="button" onClick={() => change(base)}>
              Take all changes back
            </button>
          )}
        </p>
      )}
      <section aria-label="Environment">
        <h2>Environment</h2>
        <EnvironmentChoice {...props} known={known} used={used} />
        {linked === null && found === null ? null : <ArgumentFields {...props} form={form} />}
      </section>
      <section aria-label="Model">
        <h2>Model</h2>
        <PlaceChoice {...props} form={form} usualModel={usualModel} />
      </section>
      <MainFields {...props} form={form} numbers={MAIN_NUMBERS} defaults={linked?.defaults ?? found?.metadata.defaults ?? {}} />
      <FurtherOptions {...props} fields={form.options.filter(({ name }) => !elsewhere.includes(name))} />
      <Cost forecast={forecast} isComplete={isComplete} />
      {isComplete ? <SameElsewhere draft={draft} settings={settings} /> : null}
      <StartBar
        isStarting={isStarting}
        isLoading={isLoading}
        start={ask}
        empty={isAsked ? [...own.keys()].map((name) => fieldLabel(name, form)) : []}
        problem={told}
        others={service.others}
        isWrong={service.atFields.size > 0}
        clear={base === null ? () => change(EMPTY_DRAFT) : null}
      />
    </form>
  );
}

/** What is said of a field that nobody has come to yet. */
const IS_EMPTY = ["must be given", "must be chosen"];
