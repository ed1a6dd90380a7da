import type { Evaluation } from "../../../api/run-answers.ts";
import { Confirm } from "../../../design/confirm/confirm.tsx";
import type { Actions } from "./use-actions.ts";

/** The question before something is done to a run, while it is asked. */
export const Asked = ({ run, actions: { asked, act, ask } }: { readonly run: Evaluation; readonly actions: Actions }) =>
  asked === null ? null : (
    <Confirm title={`${asked.name}: run ${run.evaluation_id}`} verb={asked.name} tone={asked.tone} act={() => act(asked)} onClose={() => ask(null)}>
      <p>{asked.says}</p>
    </Confirm>
  );
