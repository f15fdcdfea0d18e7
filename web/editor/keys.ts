import type { Direction } from './canvas/navigate.ts'

// The editor's keys, in one table: the key, its name in the help, and its command.

export type Command =
  | {
      do:
        | 'quick-add'
        | 'find'
        | 'note'
        | 'group'
        | 'comments'
        | 'connect'
        | 'delete'
        | 'select-all'
        | 'undo'
        | 'redo'
        | 'duplicate'
        | 'disable'
        | 'save'
        | 'run'
        | 'help'
        | 'fit'
    }
  | {
      do: 'arrange' | 'problems' | 'versions' | 'to-run' | 'open' | 'up' | 'inspect' | 'clear' | 'zoom-in' | 'zoom-out'
    }
  | { do: 'go'; direction: Direction }
  | { do: 'nudge'; direction: Direction }

type Binding = { keys: string[]; shown: string; what: string; command: Command; typing?: true }

/** `mod` is Ctrl, or Cmd on a Mac. A binding with `typing` also works inside a field. */
export const bindings: readonly Binding[] = [
  {
    keys: ['/'],
    shown: '/',
    what: 'Add a node after the selected one',
    command: { do: 'quick-add' },
  },
  { keys: ['mod+f'], shown: 'Ctrl F', what: 'Find a node', command: { do: 'find' } },
  { keys: ['n'], shown: 'N', what: 'Add a note', command: { do: 'note' } },
  { keys: ['g'], shown: 'G', what: 'Group the selected nodes', command: { do: 'group' } },
  { keys: ['m'], shown: 'M', what: 'Show comments', command: { do: 'comments' } },
  { keys: ['c'], shown: 'C', what: 'Connect the selected node to another', command: { do: 'connect' } },
  { keys: ['arrowleft'], shown: '← → ↑ ↓', what: 'Go from node to node', command: { do: 'go', direction: 'left' } },
  { keys: ['arrowright'], shown: '', what: '', command: { do: 'go', direction: 'right' } },
  { keys: ['arrowup'], shown: '', what: '', command: { do: 'go', direction: 'up' } },
  { keys: ['arrowdown'], shown: '', what: '', command: { do: 'go', direction: 'down' } },
  {
    keys: ['shift+arrowleft'],
    shown: 'Shift ← → ↑ ↓',
    what: 'Move the selected nodes',
    command: { do: 'nudge', direction: 'left' },
  },
  { keys: ['shift+arrowright'], shown: '', what: '', command: { do: 'nudge', direction: 'right' } },
  { keys: ['shift+arrowup'], shown: '', what: '', command: { do: 'nudge', direction: 'up' } },
  { keys: ['shift+arrowdown'], shown: '', what: '', command: { do: 'nudge', direction: 'down' } },
  {
    keys: ['enter', 'e'],
    shown: 'Enter',
    what: 'Edit the selected node; Escape returns',
    command: { do: 'inspect' },
  },
  { keys: ['o'], shown: 'O', what: 'Open the loop body of a “For each”', command: { do: 'open' } },
  { keys: ['u'], shown: 'U', what: 'Leave the loop body', command: { do: 'up' } },
  { keys: ['delete', 'backspace'], shown: 'Delete', what: 'Delete the selection', command: { do: 'delete' } },
  { keys: ['mod+a'], shown: 'Ctrl A', what: 'Select all', command: { do: 'select-all' } },
  { keys: ['escape'], shown: 'Escape', what: 'Clear the selection', command: { do: 'clear' } },
  { keys: ['mod+d'], shown: 'Ctrl D', what: 'Duplicate', command: { do: 'duplicate' } },
  { keys: ['d'], shown: 'D', what: 'Disable or enable the selected nodes', command: { do: 'disable' } },
  { keys: ['mod+z'], shown: 'Ctrl Z', what: 'Undo', command: { do: 'undo' } },
  { keys: ['mod+shift+z', 'mod+y'], shown: 'Ctrl Shift Z', what: 'Redo', command: { do: 'redo' } },
  { keys: ['l'], shown: 'L', what: 'Tidy up the nodes', command: { do: 'arrange' } },
  { keys: ['f'], shown: 'F', what: 'Fit to screen', command: { do: 'fit' } },
  { keys: ['+', 'shift++', '='], shown: '+ −', what: 'Zoom in, zoom out', command: { do: 'zoom-in' } },
  { keys: ['-'], shown: '', what: '', command: { do: 'zoom-out' } },
  { keys: ['r'], shown: 'R', what: 'Go to the run panel', command: { do: 'to-run' } },
  { keys: ['p'], shown: 'P', what: 'Show problems', command: { do: 'problems' } },
  { keys: ['v'], shown: 'V', what: 'Show versions', command: { do: 'versions' } },
  { keys: ['mod+s'], shown: 'Ctrl S', what: 'Save as a version', command: { do: 'save' }, typing: true },
  { keys: ['mod+enter'], shown: 'Ctrl Enter', what: 'Run', command: { do: 'run' }, typing: true },
  { keys: ['?', 'shift+?'], shown: '?', what: 'This list', command: { do: 'help' } },
]

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

const byKey = new Map(bindings.flatMap((binding) => binding.keys.map((key) => [key, binding])))

export function commandOf(pressed: Pressed, typing: boolean): Command | undefined {
  if (pressed.altKey) return undefined
  const parts = [(pressed.ctrlKey || pressed.metaKey) && 'mod', pressed.shiftKey && 'shift', pressed.key.toLowerCase()]
  const binding = byKey.get(parts.filter(Boolean).join('+'))
  return binding && (!typing || binding.typing) ? binding.command : undefined
}
