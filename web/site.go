package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// site is the files of one build. It may be used concurrently.
type site struct {
	Options
	policy string
	files  map[string]*file // by path; the page is at the path of the folder
}

// newSite returns the files of a folder of dist, below a path that ends with a slash.
func newSite(options Options, folder, base, policy string) *site {
	s := &site{Options: options, policy: policy, files: make(map[string]*file)}
	root, err := fs.Sub(dist, "dist/"+folder)
	if err != nil {
		panic("web: " + err.Error()) // the name is invalid
	}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			s.files[base+strings.TrimSuffix(name, "index.html")] = newFile(root, name)
		}
		return err
	})
	if err != nil {
		panic("web: the embedded files: " + err.Error())
	}
	return s
}

// find returns the file at a path, or nil.
func (s *site) find(path string) *file { return s.files[path] }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := s.find(r.URL.Path); f != nil {
		s.serve(w, r, f)
		return
	}
	s.NotFound.ServeHTTP(w, r)
}

// serve responds with a file, compressed if the client accepts it. Each of the two forms has an
// ETag of its own.
func (s *site) serve(w http.ResponseWriter, r *http.Request, f *file) {
	header := w.Header()
	header.Set("Content-Security-Policy", s.policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", f.cacheControl)
	header.Set("Content-Type", f.contentType)
	header.Add("Vary", "Accept-Encoding")
	content, etag := f.open(), f.hash()
	if s.AcceptsGzip(r) {
		compressed := f.gzip()
		content, etag = bytes.NewReader(compressed), etag+"-gzip"
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(compressed))) // ServeContent would leave it out
	}
	header.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, content)
}

// file is one embedded file. It may be used concurrently.
type file struct {
	contentType  string
	cacheControl string
	open         func() io.ReadSeeker // returns its content
	hash         func() string        // returns the hash of the content; computed once
	gzip         func() []byte        // returns the content in gzip; compressed once
}

// contentTypes are the media types of all files. The operating system's table may differ.
var contentTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".md":    "text/plain; charset=utf-8", // browsers show it
	".svg":   "image/svg+xml",
	".ttf":   "font/ttf",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// newFile returns a file of a folder. It is read when it is first requested.
func newFile(folder fs.FS, name string) *file {
	open := func() io.ReadSeeker {
		opened, err := folder.Open(name)
		if err != nil {
			panic("web: " + err.Error()) // the file is embedded
		}
		return opened.(io.ReadSeeker)
	}
	f := &file{
		contentType:  contentTypes[path.Ext(name)],
		cacheControl: "no-cache", // browsers revalidate their copy with its ETag
		open:         open,
		hash: sync.OnceValue(func() string {
			hash := sha256.New()
			_, _ = io.Copy(hash, open()) // an embedded file and a hash never fail
			return hex.EncodeToString(hash.Sum(nil)[:16])
		}),
		gzip: sync.OnceValue(func() []byte {
			var compressed bytes.Buffer
			writer, _ := gzip.NewWriterLevel(&compressed, gzip.BestCompression) // fails for an invalid level only
			_, _ = io.Copy(writer, open())                                      // a buffer never fails
			_ = writer.Close()
			return compressed.Bytes()
		}),
	}
	if f.contentType == "" {
		panic("web: " + name + " has no content type")
	}
	if strings.HasPrefix(name, "assets/") { // their names contain a hash of their content
		f.cacheControl = "public, max-age=31536000, immutable"
	}
	return f
}
