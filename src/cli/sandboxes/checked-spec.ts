import { SandboxCreationError } from "../../errors/rollout-errors.ts";
import type { SandboxSpec } from "../../environments/sandbox/sandbox.ts";

/** What timers count to in one go, with room: a sandbox or a command longer than that ends then. */
const MAX_SECONDS = 7 * 24 * 3_600;
const MAX_VARIABLES = 500;
const MAX_VARIABLE_BYTES = 64 * 1_024;

/** A spec whose numbers are numbers and whose texts are no more than texts: an environment's code may have made it. Throws a `SandboxCreationError` that names the field. */
export function checkedSpec(spec: SandboxSpec): SandboxSpec {
  const positive = (name: "cpu_cores" | "memory_gb" | "disk_size_gb" | "timeout_minutes", most: number): number => {
    const value = spec[name];
    if (typeof value !== "number" || !(value > 0 && value <= most))
      throw new SandboxCreationError(`${name} must be above 0 and at most ${most}, not ${String(value)}`);
    return value;
  };
  for (const name of ["name", "docker_image", "start_command"] as const)
    if (typeof spec[name] !== "string" || spec[name].includes("\0")) throw new SandboxCreationError(`${name} must be text without a character 0`);
  // It stands where an engine of containers reads options.
  if (spec.docker_image.startsWith("-")) throw new SandboxCreationError(`docker_image ${spec.docker_image.slice(0, 100)} is no name of an image`);
  if (!(Number.isInteger(spec.gpu_count) && spec.gpu_count >= 0))
    throw new SandboxCreationError(`gpu_count must be a whole number, not ${String(spec.gpu_count)}`);
  const variables = Object.entries(spec.environment_vars);
  if (variables.length > MAX_VARIABLES) throw new SandboxCreationError(`environment_vars has ${variables.length} variables: ${MAX_VARIABLES} are allowed`);
  for (const [name, value] of variables) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new SandboxCreationError(`environment_vars: ${JSON.stringify(name.slice(0, 100))} is no name of a variable`);
    if (typeof value !== "string" || value.includes("\0") || value.length > MAX_VARIABLE_BYTES)
      throw new SandboxCreationError(`environment_vars.${name} must be text of at most ${MAX_VARIABLE_BYTES} characters without a character 0`);
  }
  return {
    ...spec,
    cpu_cores: positive("cpu_cores", 1_024),
    memory_gb: positive("memory_gb", 4_096),
    disk_size_gb: positive("disk_size_gb", 65_536),
    timeout_minutes: positive("timeout_minutes", MAX_SECONDS / 60),
    labels: spec.labels.map(String),
  };
}

/** A time limit that a timer can count. */
export const secondsOf = (seconds: number): number => (seconds > 0 ? Math.min(seconds, MAX_SECONDS) : 0);
