import { useId } from "preact/hooks";
import { printable, singleLine } from "../../../report/text/printable.ts";
import { environmentAddress } from "../../address/links.ts";
import type { EnvironmentVersions } from "../../api/answers.ts";
import { hubPath } from "../../api/environment-paths.ts";
import { useAnswer } from "../../api/use-answer.ts";
import type { UsedEnvironment } from "../../api/use-environment.ts";
import { useDashboard } from "../../context.ts";
import type { KnownEnvironment } from "../environments/known-environments.ts";
import type { DraftProps } from "./draft-field.tsx";

interface EnvironmentChoiceProps extends DraftProps {
  /** Null until they are known. */
  readonly known: readonly KnownEnvironment[] | null;
  readonly used: UsedEnvironment;
}

const GROUPS = [
  ["linked", "Linked"],
  ["published", "Published"],
  ["bundled", "Bundled with the service"],
] as const;

/** Which environment, and which version of it. */
export function EnvironmentChoice({ draft, change, problems, changes, known, used: { linked, found, problem } }: EnvironmentChoiceProps) {
  const { link } = useDashboard();
  const id = useId();
  const { environment, version } = draft;
  const isPublished = linked === null && environment.includes("/");
  const versions = useAnswer<EnvironmentVersions>(isPublished ? hubPath(environment, null) : null);
  const wrong = problem === null ? (problems.get("environment") ?? null) : [problem.text, problem.hint].filter(Boolean).join(" ");
  const isListed = known?.some(({ reference }) => reference === environment) ?? false;
  const description = linked?.description ?? found?.description ?? "";
  // What another environment takes has nothing to do with what this one took.
  const choose = (next: string): void => change({ ...draft, environment: next, version: "", args: {} });
  return (
    <div class="form-fields">
      <div class={`form-field${changes.has("environment") ? " is-changed" : ""}`}>
        <label for={id}>Environment (required)</label>
        <select
          id={id}
          value={environment}
          aria-required
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-about`}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="">Choose one…</option>
          {environment === "" || isListed ? null : <option value={environment}>{singleLine(environment)}</option>}
          {GROUPS.map(([kind, title]) => {
            const ofKind = (known ?? []).filter((each) => each.kind === kind);
            return ofKind.length === 0 ? null : (
              <optgroup key={kind} label={title}>
                {ofKind.map(({ reference }) => (
                  <option key={reference} value={reference}>
                    {singleLine(reference)}
                  </option>
                ))}
              </optgroup>
            );
          })}
        </select>
        <div id={`${id}-about`}>
          {wrong === null ? null : <p class="field-problem">✕ {printable(wrong)}</p>}
          {changes.has("environment") ? <small>Changed: it was {singleLine(changes.get("environment") ?? "")}</small> : null}
          {description === "" ? null : <small class="clipped">{printable(description)}</small>}
        </div>
        {environment === "" ? null : (
          <small>
            <a href={link(environmentAddress(environment))}>About {singleLine(environment)}</a>
          </small>
        )}
      </div>
      {isPublished ? (
        <div class="form-field">
          <label for={`${id}-version`}>Version</label>
          <select id={`${id}-version`} value={version} onChange={({ currentTarget }) => change({ ...draft, version: currentTarget.value })}>
            <option value="">latest</option>
            {version === "" || versions.value?.data.some((each) => each.version === version) ? null : <option value={version}>{singleLine(version)}</option>}
            {versions.value?.data.map((each) => (
              <option key={each.version} value={each.version}>
                {singleLine(each.version)}
                {each.latest ? " (latest)" : ""}
              </option>
            ))}
          </select>
        </div>
      ) : null}
    </div>
  );
}
