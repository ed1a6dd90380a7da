/** Under which key examples of compared runs share something: as was `asked`, else as all of them have it `recorded`. Undefined = under none. */
export function commonClusterKey(asked: string | undefined, recorded: readonly (string | undefined)[]): string | undefined {
  const [first, ...others] = recorded;
  return asked ?? (others.every((key) => key === first) ? first : undefined);
}
