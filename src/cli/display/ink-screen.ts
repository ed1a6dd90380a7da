/** The only file that knows Ink: lines of styled text in, names of keys out. */
import { Box, type Instance, render, Text, type TextProps, useInput } from "ink";
import { createElement, type ReactElement } from "react";
import type { Line, Style } from "../terminal/canvas.ts";
import type { Painter } from "./painter.ts";

const LOOKS: { readonly [Name in Style]: TextProps } = {
  plain: {},
  strong: { bold: true },
  faint: { dimColor: true },
  chosen: { inverse: true },
  good: { color: "green" },
  fair: { color: "yellow" },
  bad: { color: "red" },
  hit: { inverse: true },
};

export interface InkScreen {
  show(lines: readonly Line[]): void;
  close(): void;
}

interface ScreenProps {
  readonly lines: readonly Line[];
  readonly onKey: (key: string) => void;
  readonly listening: boolean;
}

/** `keyboard`: null where there is none. Ctrl-C and Ctrl-Z are keys here, `ctrl-c` and `ctrl-z`. */
export function inkScreen(painter: Painter, keyboard: NodeJS.ReadStream | null, onKey: (key: string) => void): InkScreen {
  const screen = (lines: readonly Line[]): ReactElement => createElement(ScreenLines, { lines, onKey, listening: keyboard !== null });
  const options = {
    stdout: painter as unknown as NodeJS.WriteStream,
    stdin: keyboard ?? process.stdin,
    // Each render is written as one whole frame; where it goes on the terminal is the painter's business.
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
    isScreenReaderEnabled: false,
  };
  const instance: Instance = render(screen([]), options);
  return { show: (lines) => instance.rerender(screen(lines)), close: () => instance.unmount() };
}

function ScreenLines({ lines, onKey, listening }: ScreenProps): ReactElement {
  useInput((input, key) => onKey(nameOf(input, key)), { isActive: listening });
  return createElement(Box, { flexDirection: "column" }, ...lines.map((line, row) => createElement(Text, { key: row, wrap: "truncate" }, ...line.map(textOf))));
}

const textOf = ({ text, style }: Line[number], index: number): ReactElement => createElement(Text, { key: index, ...LOOKS[style] }, text);

type PressedKey = Parameters<Parameters<typeof useInput>[0]>[1];

function nameOf(input: string, key: PressedKey): string {
  if (key.ctrl) return `ctrl-${input}`;
  const named = [
    ["left", key.leftArrow],
    ["right", key.rightArrow],
    ["up", key.upArrow],
    ["down", key.downArrow],
    ["pageup", key.pageUp],
    ["pagedown", key.pageDown],
    ["home", key.home],
    ["end", key.end],
    ["tab", key.tab],
    ["enter", key.return],
  ] as const;
  return named.find(([, pressed]) => pressed)?.[0] ?? input;
}
