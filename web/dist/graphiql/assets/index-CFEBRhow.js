import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{c as t,d as n,h as r,hr as i,i as a,l as o,m as s,mr as c,n as l,p as ee,r as u,s as te,t as d,u as f}from"./vendor-Cu5p3d-4.js";function ne(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function re(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function ie(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new ne:t===`graphql`?new ie:new re};var ae=a(),p=e(c(),1),m={answers:0,total:0},h=new Set;function oe({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));m={last:{...t,codes:r,cosmos:n},answers:m.answers+1,total:m.total+(n?.requestCharge??0)};for(let e of h)e()}function se(e){return h.add(e),()=>h.delete(e)}var g=()=>(0,p.useSyncExternalStore)(se,()=>m),_=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`;function v(e){let t=new Map,n=new Set;function r(t,n){try{return t(e())}catch{return n?.(),null}}let i=e=>n.forEach(t=>t(e));addEventListener(`storage`,e=>{e.storageArea===r(e=>e)&&(e.key===null?t.clear():t.delete(e.key),i(e.key))}),addEventListener(`pageshow`,e=>e.persisted&&i(null));let a=e=>t.get(e)??r(t=>t.getItem(e));return{get:a,read:e=>r(()=>JSON.parse(a(e)??`null`)),set(e,n){t.delete(e),n===null?r(t=>t.removeItem(e)):r(t=>t.setItem(e,n),()=>t.set(e,n)),i(e)},follow(e,t){let r=n=>(n===null||n===e)&&t();return n.add(r),()=>n.delete(r)}}}var y=v(()=>localStorage);v(()=>sessionStorage);function ce(e){let t=new Set,n=()=>e,r=e=>(t.add(e),()=>t.delete(e));return{get:n,set(n){e=n,t.forEach(e=>e())},follow:r,use:()=>(0,p.useSyncExternalStore)(r,n)}}var b=`cosmosblog.session`,x=()=>y.read(b),S=ce(x());y.follow(b,()=>S.set(x()));function le(e){y.set(k,e.name),y.set(b,JSON.stringify(e))}var C=()=>y.set(b,null);function w(e){let t=x();e&&t?.token===e&&y.set(b,JSON.stringify({name:t.name}))}var ue=class extends Error{};async function T(e,t){let n=e.trim().toLowerCase(),[r]=Object.entries(D()).find(([,e])=>e.toLowerCase()===n)??[n],i=await de(r),a=await t(i);return fe(r,a),r!==n&&a?.toLowerCase()!==n?T(e,t):{account:{name:r,token:i},username:a}}async function de(e){let{token:t,errors:n}=await(await fetch(`/development/token`,{method:`POST`,headers:{"Content-Type":`application/json`},body:JSON.stringify({name:e})})).json();if(!t)throw new ue(n?.[0]?.message??`This server signs nobody in by name.`);return t}var E=`cosmosblog.usernames`,D=()=>y.read(E)??{};function fe(e,t){let n=Object.entries(D()).filter(([n,r])=>n!==e&&r.toLowerCase()!==t?.toLowerCase());t&&n.push([e,t]),y.set(E,JSON.stringify(Object.fromEntries(n)))}var O=e=>D()[e]??e,k=`cosmosblog.name`,pe=()=>O(y.get(k)??`anna`),A=e=>e?.token?e:void 0,j=()=>A(S.get()),M=()=>A(S.use()),N=({token:e})=>`Bearer ${e}`;function me(){let e=j();return{...e&&{authorization:N(e)},"x-cosmos-diagnostics":`1`}}async function P(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function F(e,t={}){let n=j(),r=new Headers(me());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await P(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==N(n)?i:(w(n.token),F(e,t))}var I=async(e,t)=>{let n=performance.now(),i,a;try{i=await(await F({...e,operationName:L(e)},t?.headers)).text(),a=JSON.parse(i)}catch{return{errors:[new r(`The server does not answer. Is it still running?`)]}}return e.operationName!==`IntrospectionQuery`&&oe({result:a,milliseconds:performance.now()-n,bytes:new Blob([i]).size}),a};function L({query:e,operationName:t}){try{let n=ee(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION).map(e=>e.name?.value);return n.length===1?n[0]:t}catch{return t}}async function R(e,t){let n=await(await F({query:e,variables:t})).json();if(n.errors?.[0])throw Error(n.errors[0].message);return n.data}async function z(e){let{data:t,errors:n}=await(await P(`/graphql`,{authorization:`Bearer ${e}`},{query:`{ viewer { username } }`})).json();if(n?.[0])throw Error(n[0].message);return t?.viewer?.username}async function he(){let{viewer:e,feed:t}=await R(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var B=i();function V({className:e,children:t}){return(0,B.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var ge=()=>(0,B.jsxs)(V,{className:`graphiql-toolbar-icon`,children:[(0,B.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,B.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),_e=()=>(0,B.jsxs)(V,{children:[(0,B.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,B.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),H={title:`Request charges`,icon:()=>(0,B.jsxs)(V,{children:[(0,B.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,B.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:ve};function ve(){let{last:e,answers:t,total:n}=g(),r=e?.cosmos;return(0,B.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,B.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,B.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,B.jsx)(`p`,{className:`panel-text`,children:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,B.jsxs)(B.Fragment,{children:[(0,B.jsxs)(`dl`,{children:[(0,B.jsx)(U,{name:`RU charged`,value:String(r.requestCharge)}),(0,B.jsx)(U,{name:`RU estimated`,value:String(r.estimate)}),(0,B.jsx)(U,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,B.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,B.jsxs)(`table`,{children:[(0,B.jsx)(`thead`,{children:(0,B.jsxs)(`tr`,{children:[(0,B.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,B.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,B.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,B.jsx)(ye,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,B.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,B.jsxs)(`p`,{className:`panel-text`,children:[_(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var U=({name:e,value:t})=>(0,B.jsxs)(`div`,{children:[(0,B.jsx)(`dt`,{children:e}),(0,B.jsx)(`dd`,{children:t})]});function ye({sent:e}){let t=[e.partitionKey].flat();return(0,B.jsxs)(`tr`,{children:[(0,B.jsxs)(`td`,{children:[(0,B.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,B.jsx)(`br`,{}),e.operation,` in `,(0,B.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,B.jsx)(`br`,{}),(0,B.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,B.jsx)(`td`,{className:`number`,children:e.cached?`cached`:e.requestCharge.toFixed(2)})]})}var be=Object.assign({"./examples/comments.graphql":`# Q4: a post’s comments. One query
# in one partition, and a point
# read that checks the post.
query Comments($postId: ID!) {
  post(id: $postId) {
    title
    comments(first: 20, order: NEWEST_FIRST) {
      totalCount
      nodes {
        id
        content
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/create-comment.graphql":`# C3: comment on a post. A stored
# procedure also counts the comment.
mutation CreateComment($postId: ID!, $content: String!) {
  createComment(input: { postId: $postId, content: $content }) {
    comment {
      id
      content
    }
    post {
      id
      commentCount
    }
  }
}
`,"./examples/create-post.graphql":`# C2: publish a post. Its copies
# in lists follow within moments.
mutation CreatePost($title: String!, $content: String!) {
  createPost(input: { title: $title, content: $content }) {
    post {
      id
      title
      version
    }
  }
}
`,"./examples/create-user.graphql":`# C1: create a user. To sign in,
# use the key in the toolbar.
mutation CreateUser($username: String!) {
  createUser(input: { username: $username }) {
    user {
      id
      username
      creationDate
    }
  }
}
`,"./examples/feed.graphql":`# Q6: the most recent posts.
# One query in one partition.
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author {
        id
        username
      }
      commentCount
      likeCount
      creationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,"./examples/like-post.graphql":`# C4: like a post. A stored
# procedure also counts the like.
mutation LikePost($postId: ID!) {
  likePost(input: { postId: $postId }) {
    like {
      id
    }
    post {
      id
      likeCount
      viewerHasLiked
    }
  }
}
`,"./examples/likes.graphql":`# Q5: a post’s likes. One query
# in one partition, and a point
# read that checks the post.
query Likes($postId: ID!) {
  post(id: $postId) {
    title
    likes(first: 20) {
      totalCount
      nodes {
        id
        user {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/post.graphql":`# Q2: a post with its author’s
# name and counts. One point read.
query Post($postId: ID!) {
  post(id: $postId) {
    id
    title
    content
    author {
      id
      username
    }
    commentCount
    likeCount
    creationDate
  }
}
`,"./examples/user-posts.graphql":`# Q3: a user’s posts. One query in
# one partition, and a point read
# that checks the user.
query UserPosts($userId: ID!) {
  user(id: $userId) {
    username
    posts(first: 20) {
      nodes {
        id
        title
        excerpt
        commentCount
        likeCount
        creationDate
      }
    }
  }
}
`,"./examples/user.graphql":`# Q1: a user. One point read.
query User($userId: ID!) {
  user(id: $userId) {
    id
    username
    creationDate
    postCount
  }
}
`}),W=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:be[`./examples/${r}.graphql`],variables:i?G(i):``}),G=e=>JSON.stringify(e,null,2),K=[W(`Q6`,`Recent posts`,16.97,`feed`),W(`C1`,`Create a user`,5.71,`create-user`,{username:``}),W(`Q1`,`A user`,1,`user`,{userId:``}),W(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`}),W(`Q2`,`A post`,1,`post`,{postId:``}),W(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),W(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),W(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),W(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),W(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``})];function q(e){let t=J(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function xe(e,t){let n=J(e);if(!n)return e;for(let r of q(e))n[r]=t[r]??``;return G(n)}function J(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var Y=()=>matchMedia(`(max-width: 48rem)`).matches,X={title:`Examples`,icon:_e,content:Se};function Se(){let{addTab:e,changeTab:t,setVisiblePlugin:r}=n(),i=f(e=>e.tabs),a=f(e=>e.activeTabIndex),o=f(e=>e.queryEditor),s=f(e=>e.variableEditor),c=({query:e})=>i.findIndex(t=>t.query===e),l=n=>{let i=c(n);i<0?e():i!==a&&t(i),o?.setValue(n.query),s?.setValue(n.variables),Y()&&r(null)};return(0,B.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,B.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,B.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,B.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured.`]}),(0,B.jsx)(`ol`,{children:K.map(e=>(0,B.jsx)(`li`,{children:(0,B.jsxs)(`button`,{type:`button`,onClick:()=>l(e),"aria-current":c(e)===a?`true`:void 0,children:[(0,B.jsx)(`span`,{className:`code`,children:e.code}),(0,B.jsx)(`span`,{className:`title`,children:e.title}),(0,B.jsx)(`span`,{className:`charge`,children:_(e.articleRU)})]})},e.code))}),(0,B.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,B.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var Ce=e(o(),1);function we(){let e=M(),[t,n]=(0,p.useState)(!1);return De(()=>n(!0)),(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(te,{label:e?`Signed in as ${O(e.name)}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,B.jsx)(ge,{})}),(0,B.jsxs)(u,{open:t,onOpenChange:n,children:[(0,B.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,B.jsx)(u.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,B.jsx)(u.Close,{})]}),(0,B.jsx)(Te,{onDone:()=>n(!1)})]})]})}function Te({onDone:e}){let n=M(),r=(0,p.useId)(),[i,a]=(0,p.useState)(pe),[o,s]=(0,p.useState)(``);return(0,B.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{le((await T(i,z)).account),e()}catch(e){s(e.message)}},children:[(0,B.jsx)(u.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,B.jsx)(`label`,{htmlFor:r,children:`Name`}),(0,B.jsx)(`input`,{id:r,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${r}-fault`}),(0,B.jsx)(`p`,{id:`${r}-fault`,className:`fault`,role:`alert`,children:o}),(0,B.jsxs)(`div`,{className:`buttons`,children:[n&&(0,B.jsx)(t,{type:`button`,onClick:()=>(C(),e()),children:`Sign out`}),(0,B.jsx)(t,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var Z=new EventTarget,Ee=()=>Z.dispatchEvent(new Event(`sign-in`));function De(e){(0,p.useEffect)(()=>(Z.addEventListener(`sign-in`,e),()=>Z.removeEventListener(`sign-in`,e)),[e])}var Q=e=>e.tabs[e.activeTabIndex]?.id;function Oe(){ke();let e=f(Q);(0,p.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function ke(){let e=M(),t=f(e=>e.variableEditor),n=f(Q),r=f(e=>e.isFetching),i=f(e=>e.tabs[e.activeTabIndex]?.query);(0,p.useEffect)(()=>{let n=t?.getValue()??``,i=q(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?he():Promise.resolve({})).then(r=>{let i=xe(n,{...r,username:e&&O(e.name)});a&&t.getValue()===n&&i!==n&&t.setValue(i)},()=>{}),()=>{a=!1}},[e,t,n,r,i])}function Ae(){Oe();let e=$(),{last:n}=g();return n?(0,B.jsxs)(`div`,{className:`footer`,role:`status`,children:[n.cosmos&&(0,B.jsx)(t,{type:`button`,className:`total`,onClick:e,children:_(n.cosmos.requestCharge)}),n.cosmos&&(0,B.jsx)(`span`,{children:je(n.cosmos.requests)}),(0,B.jsxs)(`span`,{children:[Math.round(n.milliseconds),` ms`]}),(0,B.jsx)(`span`,{children:Me(n.bytes)}),(0,B.jsx)(Ne,{codes:n.codes})]}):(0,B.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function $(){let{setVisiblePlugin:e}=n();return()=>{(0,Ce.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${H.title}"]`).click()}}function je(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var Me=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function Ne({codes:e}){let r=M(),{run:i}=n(),[a,o]=(0,p.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,B.jsx)(t,{type:`button`,className:`next`,onClick:Ee,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!r?null:(0,B.jsxs)(B.Fragment,{children:[(0,B.jsxs)(t,{type:`button`,className:`next`,onClick:async()=>{try{await R(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:r.name}),i()}catch(e){o(e.message)}},children:[`Create the user `,r.name]}),a&&(0,B.jsx)(`span`,{className:`fault`,children:a})]})}var Pe=K.map(({query:e,variables:t})=>({query:e,variables:t})),Fe=[l,X,H];(0,ae.createRoot)(document.getElementById(`root`)).render((0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,B.jsxs)(d,{fetcher:I,plugins:Fe,visiblePlugin:Y()?void 0:X,defaultTabs:Pe,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,B.jsx)(d.Logo,{children:(0,B.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,B.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,B.jsx)(d.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,B.jsxs)(B.Fragment,{children:[(0,B.jsx)(we,{}),e,n,t]})}),(0,B.jsx)(d.Footer,{children:(0,B.jsx)(Ae,{})})]})]}));