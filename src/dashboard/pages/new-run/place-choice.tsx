import { useId } from "preact/hooks";
import { EMBEDDED_MODEL, PROVIDER_NAMES, PROVIDERS } from "../../../config/endpoints/providers.ts";
import { printable, singleLine } from "../../../report/text/printable.ts";
import type { EndpointList, SecretList } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { Field } from "../../design/field/field.tsx";
import type { Place } from "./draft.ts";
import { DraftField, type DraftProps } from "./draft-field.tsx";
import type { Form } from "./form.ts";
import { useOfferedModels } from "./offered-models.ts";

interface PlaceChoiceProps extends DraftProps {
  readonly form: Form;
  /** Of the table of options. */
  readonly usualModel: string;
}

/** Of the group about the model, what most runs say; the others are among the further options. */
export const MAIN_MODEL_OPTIONS = ["api_base_url", "api_key_var"];

/** Which model, where it is called, and the name of its key. Keys themselves are nobody's to type here. */
export function PlaceChoice(props: PlaceChoiceProps) {
  const { draft, change, problems, changes, form, usualModel } = props;
  const { place, model } = draft;
  const id = useId();
  const endpoints = useAnswer<EndpointList>("/endpoints");
  const known = endpoints.value?.data ?? [];
  const endpoint = place.kind === "endpoint" ? known.find((each) => each.endpoint_id === place.id) : undefined;
  const provider = place.kind === "provider" ? Object.entries(PROVIDERS).find(([name]) => name === place.name)?.[1] : undefined;
  // Names alone: no answer has a value. Who may not see them types one.
  const secrets = useAnswer<SecretList>("/secrets");
  const kept = secrets.value?.data.map(({ name }) => name) ?? [];
  const keyNames = [...new Set([...kept, ...Object.values(PROVIDERS).flatMap(({ api_key_var }) => api_key_var ?? [])])];
  const field = (name: string) => form.options.find((each) => each.name === name);
  const [address, key] = [field("api_base_url"), field("api_key_var")];
  const offered = useOfferedModels(draft, form);
  const choose = (next: Place): void =>
    change({ ...draft, place: next, ...(next.kind === "provider" && next.name === "embedded" && model.trim() === "" ? { model: EMBEDDED_MODEL } : {}) });
  return (
    <div class="form-fields">
      <div class={`form-field${changes.has("place") ? " is-changed" : ""}`}>
        <label for={id}>Where the model is</label>
        <select
          id={id}
          aria-describedby={`${id}-about`}
          aria-invalid={problems.has("place")}
          value={textOf(place)}
          onChange={({ currentTarget }) => choose(placeOf(currentTarget.value, place))}
        >
          <option value="service">As the service calls models</option>
          {place.kind === "replicas" ? <option value="replicas">The {place.replicas.length} places of that run</option> : null}
          {known.length === 0 ? null : (
            <optgroup label="Endpoints of the team">
              {known.map(({ endpoint_id }) => (
                <option key={endpoint_id} value={`endpoint ${endpoint_id}`}>
                  {singleLine(endpoint_id)}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Providers">
            {PROVIDER_NAMES.map((name) => (
              <option key={name} value={`provider ${name}`}>
                {name === "embedded" ? "embedded: the small model that comes along" : name}
              </option>
            ))}
          </optgroup>
          <option value="address">Another address</option>
        </select>
        <div id={`${id}-about`}>
          {problems.has("place") ? <p class="field-problem">✕ {printable(problems.get("place") ?? "")}</p> : null}
          {changes.has("place") ? <small>Changed: it was {singleLine(changes.get("place") ?? "")}</small> : null}
          {endpoint === undefined ? null : (
            <small>
              Model {singleLine(endpoint.model)}, at {endpoint.replicas.map(({ api_base_url }) => singleLine(api_base_url)).join(", ")}, with the key{" "}
              {[...new Set(endpoint.replicas.map(({ api_key_var }) => singleLine(api_key_var)))].join(", ")}
            </small>
          )}
          {provider === undefined ? null : (
            <small>
              {provider.base_url}, {provider.api_key_var === null ? "without a key" : `with the key ${provider.api_key_var}`}
            </small>
          )}
        </div>
      </div>
      {place.kind === "endpoint" ? null : (
        <Field
          label="Model"
          shape={{ kind: "text" }}
          help={`Model id, as the endpoint knows it. ${offered.says}`.trim()}
          usual=""
          required
          takesJson={false}
          given={model === "" ? null : { text: model }}
          problem={problems.get("model") ?? null}
          was={changes.get("model") ?? null}
          suggestions={[...new Set([provider?.base_url === "embedded" ? EMBEDDED_MODEL : usualModel, ...offered.names, ...known.map((each) => each.model)])]}
          onFocus={offered.look}
          change={(given) => change({ ...draft, model: given?.text ?? "" })}
        />
      )}
      {address === undefined || place.kind !== "address" ? null : <DraftField {...props} group="options" field={address} usual="" />}
      {key === undefined || provider?.api_key_var === null ? null : (
        <DraftField
          {...props}
          group="options"
          field={key}
          usual={provider?.api_key_var ?? (place.kind === "service" ? "the service's own" : "")}
          suggestions={keyNames}
        />
      )}
    </div>
  );
}

const textOf = (place: Place): string =>
  place.kind === "provider" ? `provider ${place.name}` : place.kind === "endpoint" ? `endpoint ${place.id}` : place.kind;

function placeOf(text: string, before: Place): Place {
  const [kind = "", ...rest] = text.split(" ");
  const name = rest.join(" ");
  if (kind === "provider") return { kind, name };
  if (kind === "endpoint") return { kind, id: name };
  if (kind === "replicas") return before;
  return { kind: kind === "address" ? kind : "service" };
}
