import { isKeyVariable } from "../config/endpoints/secrets.ts";

/** What a secret or variable may be called and hold. */

export const NAME_RULE = "must be capitals, digits and _, begin with a letter, and be no setting of the service itself (EDGEWISE_…, CF_…)";
export const isSecretName = (name: string): boolean => isKeyVariable(name);

/** Bytes of a value: a key, a certificate, no file of data. */
export const MAX_VALUE_BYTES = 32 * 1024;
export const VALUE_RULE = `must be text of 1 byte to ${MAX_VALUE_BYTES / 1024} KiB, and not blank`;
export const isSecretValue = (value: string): boolean =>
  value.trim() !== "" && value.isWellFormed() && new TextEncoder().encode(value).byteLength <= MAX_VALUE_BYTES;

/** Secrets of a team for all environments, secrets or variables of one environment, secrets of one run. */
export const MAX_GLOBAL = 500;
export const MAX_OF_ENVIRONMENT = 100;
export const MAX_OF_RUN = 32;
export const MAX_HOSTS = 16;

/** `host/namespace` and `host/namespace:public`: of the Hugging Face Hub, in lower case (hub-grants.ts). */
const NAMESPACE = /^[a-z0-9_][a-z0-9_.-]{0,95}(?::public)?$/;
const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$|^\[[0-9a-f:.]{2,45}\]$/;
export const HOST_RULE =
  "must be a host such as api.example.com, without scheme, port or path; or a namespace of the Hugging Face Hub: huggingface.co/me, huggingface.co/me:public";
export function isHost(text: string): boolean {
  const [host = "", namespace, ...more] = text.split("/");
  return HOST.test(host) && more.length === 0 && (namespace === undefined || NAMESPACE.test(namespace));
}
