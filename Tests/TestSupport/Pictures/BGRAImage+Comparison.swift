import Foundation

@testable import PipSink

extension BGRAImage {
  func cropped(x: Int, y: Int, width: Int, height: Int) -> BGRAImage {
    let part = [UInt8](unsafeUninitializedCapacity: width * height * 4) { part, count in
      bytes.withUnsafeBytes { all in
        for row in 0..<height {
          memcpy(part.baseAddress! + row * width * 4, all.baseAddress! + ((y + row) * size.width + x) * 4, width * 4)
        }
      }
      count = width * height * 4
    }
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: part)
  }
}
