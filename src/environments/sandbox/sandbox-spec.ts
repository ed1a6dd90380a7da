import type { SandboxSpec } from "./sandbox.ts";

/** As in verifiers. */
export const DEFAULT_IMAGE = "python:3.11-slim";
export const DEFAULT_START = "tail -f /dev/null";

/** What an environment says of its sandboxes; what it leaves out is as in verifiers. */
export interface SandboxSettings {
  /** Prefix of their names; default `sandbox-env`. */
  readonly sandboxName?: string;
  /** Default `python:3.11-slim`. */
  readonly dockerImage?: string;
  /** Default `tail -f /dev/null`. */
  readonly startCommand?: string;
  /** Default 1. */
  readonly cpuCores?: number;
  /** Default 2. */
  readonly memoryGb?: number;
  /** Default 5. */
  readonly diskSizeGb?: number;
  /** Default 0. */
  readonly gpuCount?: number;
  /** Default 60. */
  readonly timeoutMinutes?: number;
  readonly environmentVars?: Readonly<Record<string, string>>;
  readonly teamId?: string | null;
  readonly advancedConfigs?: Readonly<Record<string, unknown>>;
  readonly labels?: readonly string[];
}

export const sandboxSpec = (settings: SandboxSettings): SandboxSpec => ({
  name: settings.sandboxName ?? "sandbox-env",
  docker_image: settings.dockerImage ?? DEFAULT_IMAGE,
  start_command: settings.startCommand ?? DEFAULT_START,
  cpu_cores: settings.cpuCores ?? 1,
  memory_gb: settings.memoryGb ?? 2,
  disk_size_gb: settings.diskSizeGb ?? 5,
  gpu_count: settings.gpuCount ?? 0,
  timeout_minutes: settings.timeoutMinutes ?? 60,
  environment_vars: settings.environmentVars ?? {},
  labels: settings.labels ?? [],
  team_id: settings.teamId ?? null,
  advanced_configs: settings.advancedConfigs ?? {},
});
