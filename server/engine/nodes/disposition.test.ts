import { describe, expect, test } from 'vitest'
import { nameInDisposition } from './disposition.ts'

describe('the file name of a Content-Disposition header', () => {
  test.each([
    ['attachment; filename="report.pdf"', 'report.pdf'],
    ['attachment; filename=report.pdf', 'report.pdf'],
    ['attachment;FileName=report.pdf;size=3', 'report.pdf'],
    ['attachment; filename="a;b \\"c\\".pdf"', 'a;b "c".pdf'],
    ["attachment; filename*=UTF-8''r%C3%A9sum%C3%A9%20%E2%82%AC.pdf", 'résumé €.pdf'],
    ["attachment; filename*=iso-8859-1'en'r%E9sum%E9.pdf", 'résumé.pdf'],
    ['attachment; filename="resume.pdf"; filename*=UTF-8\'\'r%C3%A9sum%C3%A9.pdf', 'résumé.pdf'],
    ['attachment; filename="rÃ©sumÃ©.pdf"', 'résumé.pdf'],
    ['attachment; filename="résumé.pdf"', 'résumé.pdf'],
    ['attachment; filename="%41.pdf"', '%41.pdf'],
  ])('is read from %s', (header, name) => expect(nameInDisposition(header)).toBe(name))

  test.each([
    undefined,
    '',
    'inline',
    'attachment; filename=',
    'attachment; filename=""',
    "attachment; filename*=UTF-8''",
  ])('is absent in %s', (header) => expect(nameInDisposition(header)).toBeUndefined())
})
