// Drawn as SVG, because the visitor's device may have no font with these symbols.

const paths = {
  chat: 'M4 5h16v11H9l-5 4z',
  close: 'M6 6l12 12M18 6L6 18',
  restart: 'M5 12a7 7 0 1 0 2-5M5 4v4h4',
  quiet: 'M4 10v4h3l5 4V6L7 10zM16 9l5 6M21 9l-5 6',
  loud: 'M4 10v4h3l5 4V6L7 10zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
  microphone: 'M12 4a2 2 0 0 1 2 2v5a2 2 0 0 1-4 0V6a2 2 0 0 1 2-2zM6 11a6 6 0 0 0 12 0M12 17v4',
  stop: 'M7 7h10v10H7z',
  attach: 'M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.2 4.2l-7.8 7.8a1.5 1.5 0 0 1-2.1-2.1L14 7.4',
}

export const Icon = ({ name }: { name: keyof typeof paths }) => (
  <svg
    viewBox="0 0 24 24"
    width="22"
    height="22"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={paths[name]} />
  </svg>
)
