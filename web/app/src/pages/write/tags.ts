import type { Fault } from '../../api/faults';

// tagsOf returns the tags of a text. Spaces and commas of any script separate them.
export const tagsOf = (text: string) => text.normalize('NFC').split(/[\s,،，、]+/).filter(Boolean);

// textOf returns a text with tags.
export const textOf = (tags: { name: string }[]) => tags.map(({ name }) => name).join(' ');

// namingTags puts the tag in front of a fault that belongs to one of several.
export const namingTags = (faults: Fault[], tags: string[]) =>
  faults.map((fault) =>
    fault.field === 'tags' && fault.element !== undefined
      ? { ...fault, message: `“${tags[fault.element]}”: ${fault.message}` }
      : fault,
  );
