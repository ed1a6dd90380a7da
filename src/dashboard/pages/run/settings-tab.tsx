import { argumentsText, concurrencyText, datasetText, notRunText, optionsText, samplingText } from "../../../report/settings.ts";
import { hubPushText } from "../../../report/hub-push-text.ts";
import { responseModelsText } from "../../../report/text/response-models-text.ts";
import { printableJson, singleLine } from "../../../report/text/printable.ts";
import { thousands } from "../../../report/text/format.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { CopyButton } from "../../design/copy/copy-button.tsx";
import { Facts } from "../../design/list/facts.tsx";
import type { Said } from "./fields.tsx";

/** What a run was asked for, and what it had: as people say it, and as the API takes it. */
export function SettingsTab({ run }: { readonly run: Evaluation }) {
  const text = printableJson(run.eval_config, 2);
  return (
    <div class="run-columns">
      <section aria-label="In words">
        <Facts facts={settingsOf(run)} />
      </section>
      <section aria-label="As a creation takes them">
        <h2>As a creation takes them</h2>
        <p>
          <CopyButton text={text} name="Copy" />
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
        <pre class="raw" tabIndex={0}>
          {text}
        </pre>
      </section>
    </div>
  );
}

function settingsOf({ evaluation_id, metadata, edgewise: state }: Evaluation): readonly Said[] {
  const { num_examples, rollouts_per_example, sampling_args, env_args, extra_env_kwargs } = metadata;
  const examples = state.total_units === 0 ? num_examples : state.total_units;
  const fields: readonly (readonly [string, string | null])[] = [
    ["Examples", `${examples < 1 ? "all" : thousands(examples)} × ${thousands(rollouts_per_example)} rollouts`],
    ["Concurrency", concurrencyText(state.max_concurrent, examples < 1 ? Number.POSITIVE_INFINITY : examples * rollouts_per_example)],
    ["Sampling", samplingText(sampling_args as Parameters<typeof samplingText>[0]) ?? "as the model has it"],
    ["Arguments", argumentsText(env_args as Parameters<typeof argumentsText>[0], state.dataset_name) ?? "none"],
    ["Options", optionsText(extra_env_kwargs as Parameters<typeof optionsText>[0])],
    ["Data set", datasetText(state.dataset_name, state.dataset_digest)],
    ["Left out", notRunText(state.n_not_run)],
    ["Clustered by", metadata.cluster_by ?? null],
    ["Passes", `from a reward of ${metadata.pass_threshold} on`],
    ["Code", state.env_digest],
    ["Answered by", responseModelsText(state.response_models)],
    ["Hub", hubPushText(evaluation_id, state.hub_push as Parameters<typeof hubPushText>[1], (at) => new Date(at).toISOString())],
    ["Kept bytes", state.stored_bytes === undefined ? null : thousands(state.stored_bytes)],
    ["Resumed", state.generation < 2 ? null : state.generation === 2 ? "once" : `${thousands(state.generation - 1)} times`],
  ];
  return fields.flatMap(([name, value]) => (value === null ? [] : [[name, singleLine(value)] as const]));
}
