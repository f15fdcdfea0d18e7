import { useEffect, useState } from 'react'
import { type FileHead, headOf, readHead } from './file-head.ts'

/** The first records of the chosen file, before it is sent. */
export function FilePreview({ file }: { file: File }) {
  const [head, setHead] = useState<FileHead | null>(null)
  useEffect(() => {
    let gone = false
    setHead(null)
    void readHead(file).then(
      (text) => !gone && setHead(headOf(text)),
      () => {},
    )
    return () => {
      gone = true
    }
  }, [file])
  if (!head) return null
  return (
    <section aria-label="Preview of the file">
      <h2 className="mb-1 font-medium">Preview</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard */}
      <div tabIndex={0} className="overflow-x-auto rounded-md border border-line">
        <table className="text-xs">
          <thead className="bg-sunken text-left text-ink-2">
            <tr>
              {head.columns.map((name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                <th key={index} scope="col" className="px-2.5 py-1.5 font-medium whitespace-nowrap">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {head.rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
              <tr key={at} className="border-t border-line">
                {head.columns.map((_, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name
                  <td key={index} className="max-w-60 truncate px-2.5 py-1 font-mono">
                    {row[index] ?? ''}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
