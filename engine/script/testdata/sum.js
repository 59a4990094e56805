function sum(property, continuation, soFar) {
  var total = soFar || 0;
  more(continuation);
  function more(from) {
    var accepted = __.readDocuments(__.getSelfLink(), { continuation: from, pageSize: 7 }, function (err, items, options) {
      if (err) throw err;
      total = items.map(function (item) { return item[property] }).filter(Number.isFinite).reduce(function (a, b) { return a + b }, total);
      if (options.continuation) more(options.continuation);
      else __.response.setBody({ sum: total });
    });
    if (!accepted) __.response.setBody({ sum: total, continuation: from || '' });
  }
}
