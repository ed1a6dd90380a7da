import type { SandboxSpec } from "../../../src/environments/sandbox/sandbox.ts";

/** A sandbox as tests ask for one. */
export const SPEC: SandboxSpec = {
  name: "conformance",
  docker_image: "python:3.11-slim",
  start_command: "tail -f /dev/null",
  cpu_cores: 1,
  memory_gb: 1,
  disk_size_gb: 1,
  gpu_count: 0,
  timeout_minutes: 5,
  environment_vars: { GREETING: "hello" },
  labels: ["conformance"],
  team_id: null,
  advanced_configs: {},
};
