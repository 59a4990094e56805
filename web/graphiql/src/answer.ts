import { useGraphiQL, type MonacoEditor } from '@graphiql/react';
import { useEffect } from 'react';

// The members of an answer's extensions that the panel and the line below the answer show.
const shown = ['budget', 'cosmos', 'session'];

// useFoldedExtensions folds the extensions of each answer, so that its data can be seen. They are
// still a part of the text, which a person can unfold and copy.
export function useFoldedExtensions() {
  const editor = useGraphiQL((state) => state.responseEditor);
  useEffect(() => {
    const watching = editor?.onDidChangeModelContent(() => fold(editor));
    return () => watching?.dispose();
  }, [editor]);
}

// Folding is what fold needs of Monaco's contribution. Its actions would fold lines of an answer in
// the next one, if that comes first.
interface Folding {
  getFoldingModel(): Promise<FoldingModel | null> | null;
}
interface FoldingModel {
  getRegionAtLine(line: number): Region | null;
  toggleCollapseState(regions: (Region | null | undefined)[]): void;
}
interface Region {
  startLineNumber: number;
  isCollapsed: boolean;
}

async function fold(editor: MonacoEditor) {
  const folding = editor.getContribution('editor.contrib.folding') as unknown as Folding | null;
  const model = await folding?.getFoldingModel(); // of the present text
  const lines = foldedLines(editor.getModel()?.getLinesContent() ?? []);
  const regions = lines.map((line) => model?.getRegionAtLine(line));
  const isOpen = (region?: Region | null) =>
    region && !region.isCollapsed && lines.includes(region.startLineNumber);
  model?.toggleCollapseState(regions.filter(isOpen));
}

// foldedLines returns the numbers of the lines at which an answer is folded: that of its extensions,
// or those of the members that are shown elsewhere, if there are others.
function foldedLines(lines: string[]): number[] {
  const start = lines.lastIndexOf('  "extensions": {');
  if (start < 0) return [];
  const members: { name: string; line: number }[] = [];
  for (let i = start + 1; i < lines.length && lines[i]!.startsWith('    '); i++) {
    const name = lines[i]!.match(/^ {4}"(\w+)":/)?.[1];
    if (name) members.push({ name, line: i + 1 });
  }
  const known = members.filter(({ name }) => shown.includes(name));
  return known.length === members.length ? [start + 1] : known.map(({ line }) => line);
}
